/** The SVG elements that the plots need. The colors are distinguishable with color blindness. */
const COLORS = ['#0f766e', '#c2410c', '#4338ca', '#a16207', '#be185d', '#475569'] as const;

export function color(index: number): string {
  return COLORS[index % COLORS.length] ?? COLORS[0];
}

type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(typeof value === 'number' ? figure(value) : value)}"`)
    .join('');
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join('')}</${name}>`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escaped(content));
}

export function picture(
  width: number,
  height: number,
  title: string,
  ...children: readonly string[]
): string {
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'font-family': 'system-ui, sans-serif',
      'font-size': 12,
    },
    element('title', {}, escaped(title)),
    ...children,
  );
}

export function escaped(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function figure(value: number): string {
  return String(Math.round(value * 100) / 100);
}
