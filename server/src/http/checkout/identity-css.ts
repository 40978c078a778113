/** Styles of the shop's identity, support links and the operator's legal line. */
export const IDENTITY_CSS = `
.legal{color:var(--muted);font-size:.875rem;overflow-wrap:anywhere}
img.disc{background:#fff;border-radius:8px}
header .legal{margin-top:8px}
.warning{margin-top:16px;padding:12px 16px;border:1px solid var(--bad);border-radius:10px;color:var(--bad)}
.authenticity{margin-top:20px}
.authenticity dl{display:block;margin:12px 0}
.authenticity dd{text-align:left}.authenticity dd+dt{margin-top:12px}
.authenticity dd small{display:block;font-size:.875rem;color:var(--muted)}
.help{display:flex;flex-wrap:wrap;align-items:center;gap:0 16px;margin-top:20px;padding-top:8px;border-top:1px solid var(--line);color:var(--muted);font-size:.875rem}
.help>*{overflow-wrap:anywhere;min-width:0}
.help a{display:inline-flex;align-items:center;min-height:44px;color:var(--ink)}
`;
