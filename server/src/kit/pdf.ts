import { deflateSync } from 'node:zlib';

/** A4 in points. The origin is the lower left corner. */
export const PDF_WIDTH = 595;
export const PDF_HEIGHT = 842;

type Color = readonly [red: number, green: number, blue: number];
const BLACK: Color = [0, 0, 0];

interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
  readonly color?: Color;
}

/**
 * A PDF file of one page with text in the standard fonts and rectangles: what a receipt needs. The standard fonts are not
 * embedded and contain the characters of Windows-1252; all others become question marks.
 */
export class PdfPage {
  #drawing = '';

  text(x: number, y: number, text: string, { size, bold = false, color = BLACK }: TextStyle): void {
    this.#drawing += `BT ${color.join(' ')} rg /${bold ? 'B' : 'R'} ${size} Tf ${x} ${y} Td (${encodeText(text)}) Tj ET\n`;
  }

  rectangle(x: number, y: number, width: number, height: number, color: Color = BLACK): void {
    this.#drawing += `${color.join(' ')} rg ${x} ${y} ${width} ${height} re f\n`;
  }

  frame(x: number, y: number, width: number, height: number, color: Color = BLACK): void {
    this.#drawing += `${color.join(' ')} RG 1.5 w ${x} ${y} ${width} ${height} re S\n`;
  }

  /** @returns the file */
  finish({ title, language }: { readonly title: string; readonly language: string }): Buffer {
    const drawing = deflateSync(Buffer.from(this.#drawing, 'latin1'));
    const font = (name: string) =>
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
    return assemble([
      `<< /Type /Catalog /Pages 2 0 R /Lang (${language}) /ViewerPreferences << /DisplayDocTitle true >> >>`,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PDF_WIDTH} ${PDF_HEIGHT}] /Contents 4 0 R /Resources << /Font << /R 5 0 R /B 6 0 R >> >> >>`,
      `<< /Length ${drawing.length} /Filter /FlateDecode >>\nstream\n${drawing.toString('latin1')}\nendstream`,
      font('Helvetica'),
      font('Helvetica-Bold'),
      `<< /Title (${encodeText(title)}) >>`,
    ]);
  }
}

/** Numbers the objects from 1 and writes the table of their positions. The last object describes the document. */
function assemble(objects: readonly string[]): Buffer {
  let file = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n';
  const positions = objects.map((object, index) => {
    const position = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(position).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${positions.join('')}`;
  return Buffer.from(
    `${file}${table}trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    'latin1',
  );
}

/** Windows-1252 has these where Latin-1 has control characters. */
const WINDOWS_1252: Readonly<Record<string, string>> = {
  '€': '\x80',
  '…': '\x85',
  '‘': '\x91',
  '’': '\x92',
  '“': '\x93',
  '”': '\x94',
  '•': '\x95',
  '–': '\x96',
  '—': '\x97',
  // Intl writes it between a time and its meridiem.
  '\u202f': '\xa0',
};

function encodeText(text: string): string {
  let encoded = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isLatin1 = code >= 0x20 && code <= 0xff && (code < 0x7f || code >= 0xa0);
    if ('()\\'.includes(character)) encoded += `\\${character}`;
    else encoded += isLatin1 ? character : (WINDOWS_1252[character] ?? '?');
  }
  return encoded;
}
