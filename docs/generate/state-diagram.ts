/** A transition between two states, with its reason. `from` is null for the initial state. */
export interface Transition {
  readonly from: string | null;
  readonly to: string;
  readonly why: string;
}

interface NodePosition {
  readonly state: string;
  readonly x: number;
  readonly y: number;
}

const BOX = { width: 118, height: 42 };
const STEP = { x: 172, y: 74 };
const START_X = 8;
/** X position of the first column, after the start dot. */
const FIRST = START_X + 32;

const STATE_CLASSES: Readonly<Record<string, string>> = {
  CONFIRMED: 'final good',
  COMPLETED: 'final good',
  DECLINED: 'final bad',
  CANCELED: 'final ended',
  EXPIRED: 'final ended',
};

/** Draws states in columns by their distance from the start. The table below the diagram lists the transitions. */
export function stateDiagram(
  title: string,
  states: readonly string[],
  transitions: readonly Transition[],
): string {
  const positions = layOut(states, transitions);
  const width = Math.max(...positions.map(({ x }) => x)) + BOX.width + 16;
  const height = Math.max(...positions.map(({ y }) => y)) + BOX.height + 16;
  const at = new Map(positions.map((position) => [position.state, position]));
  const id = title.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const shown = transitions
    .map(({ from, to }) => arrow(from === null ? null : at.get(from), at.get(to), id))
    .join('');
  const boxes = positions.map(box).join('');
  const description = transitions.map(({ from, to }) => `${from ?? 'created'} to ${to}`).join('; ');
  return `<figure class="diagram"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}: ${description}"><defs><marker id="tip-${id}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8Z"/></marker></defs>${shown}${boxes}</svg></figure>`;
}

/** Each state is one column after its farthest predecessor. */
function layOut(states: readonly string[], transitions: readonly Transition[]): readonly NodePosition[] {
  const column = new Map<string, number>();
  const columnOf = (state: string): number => {
    const known = column.get(state);
    if (known !== undefined) return known;
    const before = transitions.filter(({ from, to }) => to === state && from !== null);
    const found = Math.max(0, ...before.map(({ from }) => columnOf(from ?? '') + 1));
    column.set(state, found);
    return found;
  };
  const byColumn = Map.groupBy(states, columnOf);
  const tallest = Math.max(...[...byColumn.values()].map((each) => each.length));
  return [...byColumn].flatMap(([index, inColumn]) =>
    inColumn.map((state, row) => ({
      state,
      x: FIRST + index * STEP.x,
      y: 16 + (row + (tallest - inColumn.length) / 2) * STEP.y,
    })),
  );
}

function box({ state, x, y }: NodePosition): string {
  return `<g class="${STATE_CLASSES[state] ?? 'open'}"><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="10"/><text x="${x + BOX.width / 2}" y="${y + BOX.height / 2 + 5}" text-anchor="middle">${state}</text></g>`;
}

function arrow(from: NodePosition | null | undefined, to: NodePosition | undefined, id: string): string {
  if (!to) return '';
  const endY = to.y + BOX.height / 2;
  const tip = `marker-end="url(#tip-${id})"`;
  if (!from) {
    const firstColumn = to.x === FIRST;
    // The start arrow of a later column comes from above, so that it crosses no box.
    return firstColumn
      ? `<circle cx="${START_X}" cy="${endY}" r="5"/><path d="M${START_X + 6} ${endY}H${to.x - 3}" ${tip}/>`
      : `<circle cx="${to.x + BOX.width / 2}" cy="${to.y - 36}" r="5"/><path d="M${to.x + BOX.width / 2} ${to.y - 30}V${to.y - 3}" ${tip}/>`;
  }
  const startX = from.x + BOX.width;
  const startY = from.y + BOX.height / 2;
  const far = to.x - from.x > STEP.x;
  const bend = far ? (endY < startY ? -1 : 1) * 78 : 0;
  const middle = (startX + to.x) / 2;
  return `<path d="M${startX} ${startY}C${middle} ${startY + bend} ${middle} ${endY + bend / 2} ${to.x - 3} ${endY}" ${tip}/>`;
}
