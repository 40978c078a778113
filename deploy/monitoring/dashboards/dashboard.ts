/** Dashboards of Grafana as data. Our own builder: the JSON of two kinds of panels is short (docs/decisions/0061). */
export interface Panel {
  readonly title: string;
  /** What a value means, shown as a tooltip. */
  readonly description?: string;
  readonly kind?: 'timeseries' | 'stat';
  readonly unit?: 'short' | 's' | 'percentunit' | 'reqps' | 'bytes' | 'dateTimeFromNow' | 'none';
  readonly queries: readonly Query[];
}

interface Query {
  readonly expr: string;
  readonly legend?: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

const WIDTH = 24;
const HEIGHT = 8;
const PER_ROW = 3;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

export function dashboardJson(dashboard: Dashboard): string {
  let id = 0;
  let y = 0;
  const panels: object[] = [];
  for (const row of dashboard.rows) {
    id += 1;
    panels.push({
      id,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    });
    y += 1;
    for (const [index, panel] of row.panels.entries()) {
      id += 1;
      const w = WIDTH / PER_ROW;
      const gridPos = { x: (index % PER_ROW) * w, y: y + Math.floor(index / PER_ROW) * HEIGHT, w, h: HEIGHT };
      panels.push(panelJson(id, panel, gridPos));
    }
    y += Math.ceil(row.panels.length / PER_ROW) * HEIGHT;
  }
  const body = {
    uid: dashboard.uid,
    title: dashboard.title,
    tags: ['caudal'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
    },
    links: [{ type: 'dashboards', tags: ['caudal'], title: 'Caudal', asDropdown: true }],
    panels,
  };
  return `${JSON.stringify(body, null, 2)}\n`;
}

function panelJson(id: number, panel: Panel, gridPos: object): object {
  return {
    id,
    type: panel.kind ?? 'timeseries',
    title: panel.title,
    ...(panel.description === undefined ? {} : { description: panel.description }),
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: {
      defaults: { unit: panel.unit ?? 'short', min: panel.unit === 'none' ? null : 0 },
      overrides: [],
    },
    targets: panel.queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend ?? '__auto',
    })),
  };
}
