import { element, escaped, picture, text } from '../report/svg.ts';
import type { CpuProfile } from './profiler.ts';

const WIDTH = 1400;
const ROW = 17;
const TOP = 48;
/** Narrower boxes would be invisible. */
const MIN_WIDTH = 0.6;
const LETTER = 6.6;

/** A function and its callees; calls with the same stack are merged. */
interface Frame {
  readonly name: string;
  readonly where: string;
  self: number;
  total: number;
  readonly children: Map<string, Frame>;
}

/** Idle time is not part of the cost of a path. */
const IDLE = '(idle)';
/** Colors by kind of code: packages, Caudal, Node, V8 and the system. */
const KINDS: readonly (readonly [RegExp, string, string])[] = [
  [/\/node_modules\//, '#fdba74', 'packages'],
  [/\/server\/src\//, '#5eead4', 'Caudal'],
  [/^node:/, '#c7d2fe', 'Node'],
  [/^$/, '#cbd5e1', 'V8 and the system'],
];

export function flameGraph(title: string, profile: CpuProfile): string {
  const root = buildTree(profile);
  const depth = getDepth(root);
  const height = TOP + depth * ROW + 8;
  const boxes: string[] = [];
  draw(root, 0, 0, WIDTH, boxes);
  const legend = KINDS.flatMap(([, fill, name], index) => [
    element('rect', { x: WIDTH - 560 + index * 140, y: 10, width: 12, height: 12, fill }),
    text(WIDTH - 544 + index * 140, 20, name),
  ]);
  return picture(
    WIDTH,
    height,
    title,
    text(8, 20, title, { 'font-weight': 600 }),
    text(
      8,
      38,
      `${(root.total / 1e6).toFixed(1)} s of CPU time without idle time; hover over a box for its share`,
      {
        'font-size': 11,
      },
    ),
    ...legend,
    ...boxes,
  );
}

/** The functions with the most self time. */
export function hottest(profile: CpuProfile, limit: number): { name: string; share: number }[] {
  const root = buildTree(profile);
  const self = new Map<string, number>();
  const add = (frame: Frame) => {
    const name = `${frame.name} ${shortened(frame.where)}`;
    self.set(name, (self.get(name) ?? 0) + frame.self);
    for (const child of frame.children.values()) add(child);
  };
  add(root);
  return [...self]
    .map(([name, time]) => ({ name, share: time / root.total }))
    .toSorted((a, b) => b.share - a.share)
    .slice(0, limit);
}

function buildTree(profile: CpuProfile): Frame {
  const time = new Map<number, number>();
  for (const [index, id] of profile.samples.entries())
    time.set(id, (time.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const frame = (name: string, where: string): Frame => ({
    name,
    where,
    self: 0,
    total: 0,
    children: new Map(),
  });
  const grow = (id: number, parent: Frame): number => {
    const node = nodes.get(id);
    if (!node || node.callFrame.functionName === IDLE) return 0;
    const { functionName, url, lineNumber } = node.callFrame;
    const where = url === '' ? '' : `${url}:${lineNumber + 1}`;
    const key = `${functionName} ${where}`;
    const own = parent.children.get(key) ?? frame(functionName || '(anonymous)', where);
    parent.children.set(key, own);
    const self = time.get(id) ?? 0;
    own.self += self;
    const total = (node.children ?? []).reduce((sum, child) => sum + grow(child, own), self);
    own.total += total;
    return total;
  };
  const root = frame('all', '');
  for (const child of profile.nodes[0]?.children ?? []) root.total += grow(child, root);
  return root;
}

function getDepth(frame: Frame): number {
  return 1 + Math.max(0, ...[...frame.children.values()].map(getDepth));
}

function draw(frame: Frame, level: number, x: number, width: number, boxes: string[]): void {
  if (width < MIN_WIDTH) return;
  const y = TOP + level * ROW;
  const kind = KINDS.find(([pattern]) => pattern.test(frame.where));
  const share = ((100 * width) / WIDTH).toFixed(1);
  const letters = Math.floor((width - 4) / LETTER);
  boxes.push(
    element(
      'g',
      {},
      `<title>${escaped(`${frame.name} ${shortened(frame.where)} ${share} %`)}</title>`,
      element('rect', {
        x,
        y,
        width: Math.max(width - 0.4, 0.3),
        height: ROW - 1,
        fill: kind?.[1] ?? '#e2e8f0',
        rx: 1,
      }),
      letters < 3 ? '' : text(x + 2, y + 12, frame.name.slice(0, letters), { 'font-size': 11 }),
    ),
  );
  let from = x;
  for (const child of [...frame.children.values()].toSorted((a, b) => b.total - a.total)) {
    const part = (child.total / frame.total) * width;
    draw(child, level + 1, from, part, boxes);
    from += part;
  }
}

/** The path relative to the repository. */
function shortened(where: string): string {
  return where.replace(/^file:\/\/.*?\/(node_modules|server|bench)\//, '$1/');
}
