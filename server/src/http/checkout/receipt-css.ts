/** Styles of receipts and of their part on the confirmed screen. The test mark is printed too. */
export const RECEIPT_CSS = `
.facts{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}
.stamp{width:max-content;padding:0 10px;font-weight:650;border:2px solid var(--good);border-radius:6px;color:var(--good);font-size:1rem;letter-spacing:.08em}
.stamp.void{border-color:var(--bad);color:var(--bad)}
.test-mark{border:2px dashed var(--warn);border-radius:6px;padding:8px 12px;color:var(--warn);font-weight:650;text-align:center}
.proof{text-align:center}.proof>*+*{margin-top:8px}
.proof .code{font:600 1.25rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;user-select:all;-webkit-user-select:all}
.receipt-qr{max-width:100%;height:auto;background:#fff;border-radius:10px;image-rendering:pixelated}
.email .button{margin-top:12px}
@media print{.email{display:none}.receipt-qr{width:60mm}}
`;
