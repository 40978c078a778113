/**
 * The browser script of checkout pages: live status, countdowns, copy and share buttons, bank search, keyboards and drafts
 * of forms, and the redirects to the bank and back to the shop. A status stamp that arrives during a refresh is kept,
 * because the response in flight may be older than the stamp. A failed refresh changes nothing but the connection notice:
 * the screen stays, and the refresh is tried again. Without a build step: it must run on old phones and stay small.
 */
export const CHECKOUT_SCRIPT = `(function(){
var d=document,live,poll,timer,retry,leaving,idle,busy=false,asking=false,pushed=0,latest='';
function q(s){return d.querySelector(s)}
function first(){return [].filter.call(d.querySelectorAll('#main h1'),function(h){return h.offsetParent})[0]}
function announce(t){var e=q('#announcer');if(e){e.textContent='';setTimeout(function(){e.textContent=t},50)}}
function connection(t){var e=q('#connection');if(e&&e.textContent!==t){e.textContent=t;announce(t)}}
function lost(){var e=q('#connection');if(e)connection(e.getAttribute(navigator.onLine===false?'data-offline':'data-lost'))}
function get(u,h){var c=window.AbortController?new AbortController():{};setTimeout(function(){if(c.abort)c.abort()},15000);
return fetch(u,{headers:h||{},cache:'no-store',signal:c.signal}).then(function(r){if(!r.ok)throw r;return r.text()})}
function show(t){
var n=new DOMParser().parseFromString(t,'text/html'),m=n.querySelector('#main');
if(!m)throw t;
connection('');
var before=first(),old=before?before.textContent:'';
var same=m.innerHTML===q('#main').innerHTML;
['data-live','data-stamp'].forEach(function(k){var a=n.body.getAttribute(k);if(a)d.body.setAttribute(k,a);else d.body.removeAttribute(k)});
if(same)return;q('#main').replaceWith(m);d.title=n.title;init();var h=first();if(h&&h.textContent!==old)announce(h.textContent)}
function refresh(){
if(busy)return;busy=true;clearTimeout(retry);
var p=pushed;
get(location.href,{'x-part':'main'}).then(function(t){if(p===pushed)show(t)}).then(function(){busy=false;setTimeout(refreshIfStale,200)},function(){busy=false;lost();retry=setTimeout(refresh,3000)})}
function refreshIfStale(){if(latest&&d.body.getAttribute('data-live')&&latest!==d.body.getAttribute('data-stamp'))refresh()}
function onStamp(s){if(s&&s[0]!=='<'){latest=s;refreshIfStale()}}
function onEvent(e){
var i=e.data.indexOf('\\n'),s=i<0?e.data:e.data.slice(0,i);
connection('');
if(i>0&&s!==d.body.getAttribute('data-stamp')){pushed++;try{show(e.data.slice(i+1))}catch(x){}}
onStamp(s)}
function listen(u){live=new EventSource(u+(location.search||'?')+'&stamp='+encodeURIComponent(d.body.getAttribute('data-stamp')));live.u=u;live.onmessage=onEvent}
function ask(u){
if(asking||live&&live.readyState===1)return;asking=true;
get(u+'?once=1').then(function(s){asking=false;connection('');onStamp(s);if(live&&live.u===u&&live.readyState===2)listen(u)},function(){asking=false;lost()})}
function watch(){
var u=d.body.getAttribute('data-live');
if(live&&live.u!==u){live.close();live=null;latest=''}
clearInterval(poll);
if(!u)return;
poll=setInterval(function(){ask(u)},3000);
if(window.EventSource&&!live)listen(u)}
function reopen(){if(d.body.hasAttribute('data-reopen'))setTimeout(function(){get(location.href,{'x-part':'main'}).then(function(){location.reload()},reopen)},3000)}
function count(){
clearInterval(timer);
var p=q('[data-left]');if(!p)return;
var end=performance.now()+1000*p.getAttribute('data-left'),t=p.querySelector('.time'),announced={};
timer=setInterval(function(){
var s=Math.max(0,Math.round((end-performance.now())/1000));
t.textContent=Math.floor(s/60)+':'+('0'+s%60).slice(-2);
if(s===300&&!announced[5]){announced[5]=1;announce(p.getAttribute('data-minutes').replace('{minutes}','5'))}
if(s===60&&!announced[1]){announced[1]=1;announce(p.getAttribute('data-minute'))}
if(s===0){clearInterval(timer);announce(p.getAttribute('data-over'));setTimeout(refresh,500)}
},500)}
function copy(){
[].forEach.call(d.querySelectorAll('[data-copy]'),function(b){b.hidden=false;
b.onclick=function(){
var k=b.getAttribute('data-copy'),w=b.getAttribute('data-label')||b.textContent;b.setAttribute('data-label',w);
function done(){b.textContent=b.getAttribute('data-copied');announce(b.textContent);setTimeout(function(){b.textContent=w},3000)}
function old(){var a=d.createElement('textarea');a.value=k;d.body.appendChild(a);a.select();try{d.execCommand('copy')&&done()}catch(e){}a.remove()}
if(navigator.clipboard)navigator.clipboard.writeText(k).then(done,old);else old()}})}
function plain(s){return s.toLowerCase().normalize('NFD').replace(/[\\u0300-\\u036f]/g,'')}
function banks(){
var f=q('[data-banks]');if(!f)return;
var i=f.querySelector('#search'),b=f.querySelector('.button');
i.parentNode.hidden=false;
i.oninput=function(){var v=plain(i.value.trim()),n=0;
[].forEach.call(f.querySelectorAll('.banks .choice'),function(c){var ok=plain(c.textContent).indexOf(v)>=0;c.hidden=!ok;n+=ok});
[].forEach.call(f.querySelectorAll('.banks'),function(s){s.hidden=!s.querySelector('.choice:not([hidden])')});
var e=f.querySelector('[data-none]');e.textContent=n?'':e.getAttribute('data-none')};
i.onkeydown=function(e){if(e.key==='Enter')e.preventDefault()};
f.onchange=function(){var c=f.querySelector('[name=bank]:checked');if(c)b.textContent=b.getAttribute('data-go-to').replace('{bank}',c.parentNode.textContent.trim())}}
function leave(){
clearInterval(leaving);idle=null;
var r=q('[data-return]'),p=q('[data-leaving]'),k='stay '+location.pathname,s;
if(!p||sessionStorage.getItem(k))return;
function left(n){s=n;p.firstChild.textContent=p.getAttribute('data-leaving').replace('{seconds}',s)}
function stay(){clearInterval(leaving);idle=null;p.hidden=true;sessionStorage.setItem(k,1)}
idle=function(){left(30)};idle();p.hidden=false;
q('[data-stay]').onclick=function(){stay();r.focus()};
leaving=setInterval(function(){
if(d.hidden)return;
left(s-1);
if(s===20)announce(p.firstChild.textContent);
if(s===0){stay();location.href=r.href}},1000)}
['pointerdown','pointermove','keydown','wheel','touchmove','scroll'].forEach(function(n){addEventListener(n,function(){if(idle)idle()},{passive:true})});
function redirect(){
var g=q('[data-go]');if(g&&!sessionStorage.getItem(g.href)){sessionStorage.setItem(g.href,1);setTimeout(function(){location.href=g.href},600)}
else if(g&&performance.getEntriesByType('navigation').some(function(n){return n.type==='back_forward'}))location.replace(location.pathname);
var w=q('[data-focus]');if(w)w.focus();
var p=q('[data-print]');if(p){p.hidden=false;p.onclick=function(){print()}}
var s2=q('[data-share-url]');if(s2&&navigator.share){s2.hidden=false;s2.onclick=function(){navigator.share({title:d.title,url:s2.getAttribute('data-share-url')}).catch(function(){})}}}
function working(b,on){if(!b)return;if(on){b.setAttribute('aria-busy','true');setTimeout(function(){working(b)},10000)}else b.removeAttribute('aria-busy');if(b.form)setTimeout(function(){b.disabled=!!on},0)}
d.addEventListener('submit',function(e){
if(navigator.onLine===false){e.preventDefault();connection(q('#connection').getAttribute('data-unsent'));return}
working(e.submitter||e.target.querySelector('.button'),true)});
d.addEventListener('click',function(e){
var a=e.target.closest('a.button,a.row');
if(a&&a.protocol.indexOf('http')===0&&!a.target&&!a.hasAttribute('download')&&!e.ctrlKey&&!e.metaKey&&!e.shiftKey)working(a,true)});
function keyboards(){var s=q('#idType'),i=q('#idNumber');if(!s)return;
(s.onchange=function(){i.inputMode=/CC|NIT/.test(s.value)?'numeric':'text'})()}
function drafts(){var f=q('[data-draft]'),k='draft';
if(!f){if(d.body.getAttribute('data-live'))sessionStorage.removeItem(k);return}
var p=f.getAttribute('data-draft'),all=[].filter.call(f.elements,function(e){return e.id});
var o=JSON.parse(sessionStorage.getItem(k)||'{}');
if(o.path===p)all.forEach(function(e){if(e.type==='checkbox'){if(o[e.id])e.checked=true}else if(o[e.id]&&!(e.defaultValue||q('.wrong')))e.value=o[e.id]});
f.addEventListener('input',function(){o={path:p};all.forEach(function(e){o[e.id]=e.type==='checkbox'?e.checked:e.value});sessionStorage.setItem(k,JSON.stringify(o))})}
function share(){var b=q('[data-share]');if(!b||!navigator.share)return;b.hidden=false;
b.onclick=function(){var t={text:b.getAttribute('data-share-text')};
fetch(b.getAttribute('data-share')).then(function(r){return r.blob()}).then(function(x){
var f={files:[new File([x],'bre-b.png',{type:'image/png'})],text:t.text};return navigator.share(navigator.canShare&&navigator.canShare(f)?f:t)}).catch(function(){})}}
function countRetry(){var b=q('[data-retry]');if(!b)return;
var w=b.textContent,end=performance.now()+1000*b.getAttribute('data-retry');b.disabled=true;
(function tick(){var s=Math.ceil((end-performance.now())/1000);
if(s<=0){b.disabled=false;b.textContent=w;return}
b.textContent=b.getAttribute('data-retry-in').replace('{time}',Math.floor(s/60)+':'+('0'+s%60).slice(-2));setTimeout(tick,500)})()}
function init(){watch();count();copy();banks();redirect();drafts();keyboards();share();countRetry();later();leave()}
function later(){[].forEach.call(d.querySelectorAll('[data-after]'),function(e){setTimeout(function(){e.hidden=false},1000*e.getAttribute('data-after'))})}
init();reopen();
addEventListener('online',function(){connection('');if(d.body.getAttribute('data-live'))refresh()});
addEventListener('offline',function(){if(d.body.getAttribute('data-live'))lost()});
addEventListener('pageshow',function(e){[].forEach.call(d.querySelectorAll('[aria-busy]'),function(b){working(b)});
if(e.persisted&&q('[data-go]'))location.replace(location.pathname);else if(e.persisted||d.body.getAttribute('data-live'))refresh()});
d.addEventListener('visibilitychange',function(){if(!d.hidden&&d.body.getAttribute('data-live'))refresh()});
})();
`;
