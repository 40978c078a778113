/** Styles of the shop's identity, support links and the operator's legal line. */
export const IDENTITY_CSS = `
.legal{color:var(--muted);font-size:14px;overflow-wrap:anywhere}
header .legal{margin-top:8px}
`;
