import { PDF_HEIGHT, PDF_WIDTH, PdfPage } from '../../kit/pdf.ts';
import { qrSymbol } from '../../kit/qr-png.ts';
import type { ReceiptContent } from './receipt-content.ts';

const MARGIN = 56;
const VALUE_X = 220;
const LINE = 18;
const QR_POINTS = 190;
const QUIET_MODULES = 4;
/** The longest line of values at 11 points, also in wide letters. */
const VALUE_CHARACTERS = 48;

const GOOD = [0.08, 0.5, 0.24] as const;
const BAD = [0.73, 0.11, 0.11] as const;
const WARNING = [0.71, 0.33, 0.04] as const;
const MUTED = [0.28, 0.33, 0.41] as const;

/** Draws the receipt on one A4 page. */
export function receiptPdf(content: ReceiptContent): Buffer {
  const { messages, language } = content;
  const page = new PdfPage();
  let y = PDF_HEIGHT - MARGIN;
  if (content.testMark !== null) {
    page.frame(MARGIN, y - 8, PDF_WIDTH - 2 * MARGIN, 26, WARNING);
    page.text(MARGIN + 10, y, content.testMark, { size: 12, bold: true, color: WARNING });
    y -= 44;
  }
  page.text(MARGIN, y, messages.title, { size: 20, bold: true });
  const color = content.paid ? GOOD : BAD;
  page.frame(400, y - 8, 12 * content.stamp.length + 20, 28, color);
  page.text(410, y, content.stamp, { size: 16, bold: true, color });
  y -= 34;
  if (content.note !== null) {
    page.text(MARGIN, y, content.note, { size: 11, bold: true, color: BAD });
    y -= LINE;
  }
  y = drawRows(page, content, y - LINE / 2);
  if (content.qrText !== null) drawProof(page, content, content.qrText, y - LINE);
  return page.finish({ title: `${messages.title} ${content.code}`, language });
}

function drawRows(page: PdfPage, { rows }: ReceiptContent, top: number): number {
  let y = top;
  for (const [label, value] of rows) {
    page.text(MARGIN, y, label, { size: 11, color: MUTED });
    for (const line of wrap(value, VALUE_CHARACTERS)) {
      page.text(VALUE_X, y, line, { size: 11 });
      y -= LINE;
    }
  }
  return y;
}

function drawProof(
  page: PdfPage,
  { messages, code, verify }: ReceiptContent,
  qrText: string,
  top: number,
): void {
  drawQr(page, qrText, MARGIN, top - QR_POINTS);
  const x = MARGIN + QR_POINTS + 16;
  page.text(x, top - 20, messages.code, { size: 11, color: MUTED });
  page.text(x, top - 44, code, { size: 18, bold: true });
  let y = top - 74;
  for (const line of wrap(verify, 40)) {
    page.text(x, y, line, { size: 11, bold: true });
    y -= LINE;
  }
  for (const line of wrap(messages.verifyAbout, 46)) {
    page.text(x, y, line, { size: 11, color: MUTED });
    y -= LINE;
  }
}

/** One rectangle per run of dark modules: adjacent rectangles could show gaps between them. */
function drawQr(page: PdfPage, text: string, left: number, bottom: number): void {
  const symbol = qrSymbol(text);
  const module = QR_POINTS / (symbol.size + 2 * QUIET_MODULES);
  for (let row = 0; row < symbol.size; row += 1) {
    const y = bottom + (symbol.size + QUIET_MODULES - 1 - row) * module;
    for (let column = 0; column < symbol.size; column += 1) {
      const from = column;
      while (symbol.get(column, row)) column += 1;
      const x = left + (from + QUIET_MODULES) * module;
      if (column > from) page.rectangle(round(x), round(y), round((column - from) * module), round(module));
    }
  }
}

function round(points: number): number {
  return Math.round(points * 1000) / 1000;
}

/** Breaks between words, and inside of words that are longer than a line. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    for (let rest = word; rest !== ''; rest = rest.slice(width)) {
      const piece = rest.slice(0, width);
      const line = lines.at(-1) ?? '';
      if (line === '') lines[lines.length - 1] = piece;
      else if (line.length + 1 + piece.length <= width) lines[lines.length - 1] = `${line} ${piece}`;
      else lines.push(piece);
    }
  }
  return lines;
}
