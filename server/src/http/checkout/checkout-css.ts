import { IDENTITY_CSS } from './identity-css.ts';
import { RECEIPT_CSS } from './receipt-css.ts';

/** The style sheet of all checkout pages. Colors are variables, so that the dark scheme overrides only those. */
export const CHECKOUT_CSS = `
:root{--ink:#0f172a;--muted:#475569;--line:#e2e8f0;--edge:#64748b;--ground:#f8fafc;--paper:#fff;--good:#15803d;--bad:#b91c1c;--warn:#b45309;--wash:#f1f5f9;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#f1f5f9;--muted:#a9b6c8;--line:#2b3648;--edge:#7c8ba1;--ground:#0b1120;--paper:#131c2e;--good:#4ade80;--bad:#fca5a5;--warn:#fbbf24;--wash:#1c273b}}
*{box-sizing:border-box}
:root [hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;scroll-padding:56px 0 112px}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;overflow-wrap:break-word}
p,h1,ul,ol,dl,dd,fieldset,figure{margin:0;padding:0}
a{color:inherit}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px;box-shadow:0 0 0 2px var(--paper)}
main:focus{outline:none}
.ribbon{background:var(--warn);color:#fff;text-align:center;font-size:.875rem;padding:8px 20px}
@media (prefers-color-scheme:dark){.ribbon{color:#0b1120}}
.card{flex:1;width:100%;padding:24px 20px}
header{padding-bottom:20px;margin-bottom:20px;border-bottom:1px solid var(--line)}
.shop{display:flex;align-items:center;gap:12px;overflow-wrap:anywhere}
.disc{flex:none;border:1px solid transparent;width:40px;height:40px;border-radius:50%;background:var(--accent);color:var(--on-accent);display:grid;place-items:center;font-weight:600}
.amount{font-size:2.125rem;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums;margin-top:16px;overflow-wrap:anywhere}
.amount small{font-size:.875rem;font-weight:500;color:var(--muted)}
.about{margin-top:4px;overflow-wrap:anywhere}
.reference{color:var(--muted);font-size:.875rem;margin-top:4px;overflow-wrap:anywhere}
main>*+*{margin-top:16px}
h1{font-size:1.25rem;line-height:1.3;font-weight:650;overflow-wrap:anywhere}
.rows{list-style:none;display:grid;gap:12px}
.row{display:flex;align-items:center;justify-content:space-between;gap:12px;padding:16px;border:1px solid var(--edge);border-radius:10px;text-decoration:none;min-height:72px}
.row span span{display:block;margin-top:6px;color:var(--muted);font-size:.875rem}
.badge{display:inline-block;margin:0 6px 4px 0;padding:2px 8px;border:1px solid var(--edge);border-radius:6px;font-size:.875rem;line-height:1.5;font-weight:500;color:var(--muted)}
strong.badge{padding:2px 10px;border-color:var(--ink);background:var(--ink);color:var(--paper);font-weight:700;letter-spacing:.02em}
.row:hover{background:var(--wash)}
.icon{width:20px;height:20px;flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.mark{display:block;margin-inline:auto;width:56px;height:56px;fill:none;stroke-width:3;stroke-linecap:round;stroke-linejoin:round}
.mark.good{stroke:var(--good)}.mark.bad{stroke:var(--bad)}.mark.wait{stroke:var(--warn)}.mark.calm{stroke:var(--muted)}
.mark+h1,.mark~p{text-align:center;text-wrap:balance}
.mark.good path{stroke-dasharray:32;animation:draw .2s ease-out both}
@keyframes draw{from{stroke-dashoffset:32}}
.button{display:flex;align-items:center;justify-content:center;width:100%;min-height:48px;padding:10px 16px;border:1px solid transparent;border-radius:10px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer;overflow-wrap:anywhere}
.button.quiet{background:none;color:var(--ink);border:1px solid var(--edge)}
[aria-busy]{opacity:.7;cursor:progress}
[aria-busy]::after{content:"";flex:none;width:16px;height:16px;margin-left:10px;border:2px solid;border-right-color:transparent;border-radius:50%;animation:turn .8s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
.link{display:inline-flex;align-items:center;min-height:44px;padding:8px 0;border:0;background:none;color:var(--ink);font:inherit;text-decoration:underline;cursor:pointer}
.leaving{margin-top:4px;display:flex;flex-wrap:wrap;justify-content:center;align-items:center;gap:0 12px;color:var(--muted);font-size:.875rem}
.host{display:block;text-align:center;color:var(--muted);font-size:.875rem;margin-top:8px;overflow-wrap:anywhere}
.field{display:block}.field+.field{margin-top:16px}
.field label{display:block;font-weight:500}
.field small{display:block;color:var(--muted);font-size:.875rem}
input[type=text],input[type=tel],input[type=email],input[type=search],select{width:100%;min-height:48px;margin-top:4px;padding:10px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--paper);color:var(--ink);font:inherit}
input[aria-invalid=true],select[aria-invalid=true]{border:2px solid var(--bad)!important}
.error,.wrong{overflow-wrap:anywhere}
.error{display:block;color:var(--bad);font-size:.875rem;margin-top:4px}
.wrong{border:1px solid var(--bad);border-radius:10px;padding:12px 16px;color:var(--bad)}
.wrong ul{padding-left:20px}.wrong a{display:inline-block;vertical-align:top;padding:4px 0}
.choice{display:flex!important;align-items:center;gap:12px;min-height:48px;padding:8px 12px;border:1px solid var(--edge);border-radius:10px;font-weight:400!important;cursor:pointer;overflow-wrap:anywhere}
.choice span{min-width:0}
.choice+.choice{margin-top:8px}
.choice input{flex:none;width:20px;height:20px;margin:0;accent-color:var(--accent)}
.choice:hover{background:var(--wash)}
.choice:has(:checked){background:var(--wash);border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.choice:has([aria-invalid=true]){border:2px solid var(--bad)}
.choice:has(:focus-visible){outline:3px solid var(--ink);outline-offset:2px}
fieldset{border:0;margin-top:16px;min-width:0}legend{font-weight:600;padding:0 0 4px;font-size:.875rem;color:var(--muted)}
.search label{font-weight:500}
.last{margin-top:20px}.stays{position:sticky;bottom:0;padding:12px 0;background:var(--paper)}.people{display:flex;flex-wrap:wrap;gap:8px}.people legend{width:100%}.people .choice{flex:1 1 140px;margin:0}.search{margin-top:12px}
details{margin-top:12px}summary{min-height:44px;display:flex;align-items:center;cursor:pointer;text-decoration:underline}
details p{color:var(--muted);font-size:.875rem}
.key{font:600 1.25rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--wash);border-radius:10px;padding:16px;text-align:center;user-select:all;-webkit-user-select:all;overflow-wrap:anywhere}
.steps{padding-left:24px}.steps li+li{margin-top:4px}
.qr{display:block;margin:8px auto 0;max-width:100%;height:auto;border-radius:10px;image-rendering:pixelated}
.waiting{border-top:1px solid var(--line);padding-top:16px}
.waiting p+p{color:var(--muted);font-size:.875rem}
.time{font-variant-numeric:tabular-nums}
.pulse::before{content:"";display:inline-block;width:10px;height:10px;border-radius:50%;background:var(--accent);margin-right:10px;animation:pulse 1.6s ease-in-out infinite}
@keyframes pulse{50%{opacity:.25}}
dl{display:grid;grid-template-columns:auto 1fr;gap:8px 16px;border:1px solid var(--line);border-radius:10px;padding:16px}
dt{color:var(--muted);font-size:.875rem}dd{text-align:right;overflow-wrap:anywhere;min-width:0}
.notice{position:sticky;top:0;z-index:1;margin-bottom:16px;padding:10px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--wash);font-size:.875rem}
.notice:empty{display:none}
.who,.support{color:var(--muted);font-size:.875rem;overflow-wrap:anywhere}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
footer{padding:16px 20px 24px;color:var(--muted);font-size:.875rem;text-align:center}
footer p{display:flex;gap:6px;justify-content:center;align-items:center;flex-wrap:wrap}footer p:first-child{flex-wrap:nowrap}
footer a{display:inline-flex;align-items:center;min-height:44px;padding:0 8px}
@media (min-width:640px){
body{background:var(--ground);align-items:center;padding:0 0 24px}
.ribbon{width:100%}
.card{flex:none;width:440px;margin-top:48px;padding:32px;background:var(--paper);border:1px solid var(--line);border-radius:16px}
}
@media (min-width:900px){
.order{display:grid;grid-template-columns:minmax(0,19fr) minmax(0,26fr);width:900px;padding:0;overflow:clip}
.order>header{grid-row:1/span 9;margin:0;padding:40px;border:0;border-right:1px solid var(--line);background:var(--wash)}
.order>:not(header){grid-column:2;margin:24px 40px 0}
.order>main{margin:40px 40px 24px}
.order>section{margin:0 40px 24px}
.order .amount{font-size:2.5rem}
.banks{display:grid;grid-template-columns:1fr 1fr;gap:8px}.banks .choice{margin:0}.banks legend{grid-column:1/-1}
}
@media (prefers-reduced-motion:reduce){*,*::before,*::after{animation:none!important;transition:none!important}}
.none{color:var(--muted)}
button:disabled{opacity:.6;cursor:default}
footer .link{font-size:.875rem;padding:0 8px}
.key{font-size:1.125rem;padding:16px 8px}.key wbr+span{margin-left:.4em}
.pay{display:flex;flex-direction:column;gap:16px}.pay>*>*+*{margin-top:16px}.waiting{border:0;padding:0}
.steps li+li{margin-top:8px}.inline{display:inline-flex;width:auto;min-height:44px;padding:4px 12px}
.pair{display:flex;gap:12px}
@media (pointer:coarse){.mouse-only{display:none}}
@media not all and (pointer:coarse){.touch-only{display:none}.pay-qr{order:-1}}
@media print{footer,.button,.link,.host{display:none!important}.card{border:0;margin:0}}
${IDENTITY_CSS}${RECEIPT_CSS}`;
