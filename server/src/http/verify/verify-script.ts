import { decodeBase32 } from '../../receipts/base32.ts';
import { decodeReceipt } from '../../receipts/receipt-facts.ts';
import { rejectKey } from '../../receipts/receipt-keys.ts';
import { bogotaTime, moneyText } from '../checkout/format.ts';
import { describeResult } from './describe-result.ts';

/**
 * The script of `/verificar`. It verifies the receipt in the fragment of the address, which browsers do not send to the
 * server, and then asks whether the money was returned. It runs the same functions as the server, by their source text.
 */
export const VERIFY_SCRIPT = `(function(){
'use strict';
${[decodeBase32, decodeReceipt, rejectKey, moneyText, bogotaTime, describeResult].join('\n')}
var d=document,data=JSON.parse(d.getElementById('data').textContent),published=data.keys,messages=data.messages;
var out=d.getElementById('result'),input=d.getElementById('c'),turn=0;
function element(name,text,className){var e=d.createElement(name);if(text)e.textContent=text;if(className)e.className=className;return e}
function show(result){
var text=describeResult(result,messages,{moneyText:moneyText,bogotaTime:bogotaTime});
out.replaceChildren(d.getElementById('mark-'+text.tone).content.cloneNode(true),element('h2',text.title));
out.className='result '+text.tone;out.setAttribute('data-verdict',result.verdict);out.setAttribute('data-state',result.state);
text.lines.forEach(function(line){out.append(element('p',line))});
if(text.rows.length){var list=element('dl','','facts');text.rows.forEach(function(row){list.append(element('dt',row[0]),element('dd',row[1]))});out.append(list)}}
function note(text){out.replaceChildren(element('p',text));out.className='result';out.removeAttribute('data-verdict');out.removeAttribute('data-state')}
function verify(receipt){
var key=published.keys.filter(function(k){return k.kid===receipt.facts.keyId})[0];
var bytes=Uint8Array.from(atob(key.x.replace(/-/g,'+').replace(/_/g,'/')),function(c){return c.charCodeAt(0)});
return crypto.subtle.importKey('raw',bytes,{name:'Ed25519'},false,['verify']).then(function(k){
return crypto.subtle.verify({name:'Ed25519'},k,receipt.signature,receipt.signed)})}
function ask(code){
return fetch('/verify/receipts/'+encodeURIComponent(code),{cache:'no-store'}).then(function(r){
if(r.status===429)return {verdict:'busy',state:'offline'};return r.ok||r.status===404||r.status===400?r.json():{state:'offline'}},function(){return {state:'offline'}})}
function freshKeys(){return fetch('/.well-known/caudal-receipt-keys.json',{cache:'no-store'}).then(function(r){return r.json()}).then(function(k){if(k.keys)published=k},function(){})}
function check(text){
var mine=++turn;
function finish(result){if(mine===turn)show(result)}
var receipt=decodeReceipt(text,decodeBase32);
if(!receipt)return finish({verdict:'unreadable',facts:null,state:'offline'});
note(messages.checking);
var asked=freshKeys();
var rejection=rejectKey(published,receipt.facts);
if(rejection)return asked.then(function(){rejection=rejectKey(published,receipt.facts);if(rejection)finish({verdict:rejection,facts:null,state:'offline'});else check(text)});
verify(receipt).then(function(ok){
if(!ok)return finish({verdict:'altered',facts:null,state:'offline'});
finish({verdict:'authentic',facts:receipt.facts,state:'offline'});
Promise.all([ask(receipt.facts.code),asked]).then(function(answers){
var late=rejectKey(published,receipt.facts);
finish(late?{verdict:late,facts:null,state:'offline'}:{verdict:'authentic',facts:receipt.facts,state:answers[0].state})})
},function(){if(navigator.onLine)location.replace(location.pathname+'?c='+text);else note(messages.unsupported)})}
function checkCode(code){
var mine=++turn;
note(messages.checking);
ask(code).then(function(answer){if(mine!==turn)return;
if(answer.receipt)return check(answer.receipt);
if(answer.state==='returned'||answer.state==='reversed')return show({verdict:'authentic',facts:null,state:answer.state});
show({verdict:answer.verdict||'code_offline',facts:null,state:'offline'})})}
function fromAddress(){var text=location.hash.slice(1);d.getElementById('other').hash=text;if(text)check(text.toUpperCase())}
d.getElementById('form').addEventListener('submit',function(e){
e.preventDefault();
var text=input.value.trim(),at=text.indexOf('#');
if(at<0&&text.length<60)return checkCode(text);
var receipt=text.slice(at+1);
if(location.hash.slice(1)===receipt)check(receipt.toUpperCase());else location.hash=receipt});
addEventListener('hashchange',fromAddress);
fromAddress();
if('serviceWorker' in navigator)navigator.serviceWorker.register('/verify/worker.js',{scope:location.pathname}).then(function(){return navigator.serviceWorker.ready}).then(function(){d.documentElement.setAttribute('data-offline','ready')},function(){});
})();
`;

/**
 * Keeps the page for use without a connection. The network comes first, so that a revoked key is known as soon as the
 * device is online.
 */
export const SERVICE_WORKER = `'use strict';
var STORE='caudal-verify-1',page=new URL(registration.scope).pathname;
addEventListener('install',function(e){e.waitUntil(caches.open(STORE).then(function(c){return c.add(new Request(page,{cache:'reload'}))}).then(function(){return skipWaiting()}))});
addEventListener('activate',function(e){e.waitUntil(clients.claim())});
addEventListener('fetch',function(e){
var url=new URL(e.request.url);
if(e.request.mode!=='navigate'||url.pathname!==page)return;
e.respondWith(fetch(e.request).then(function(r){
if(r.ok&&!url.search){var copy=r.clone();e.waitUntil(caches.open(STORE).then(function(c){return c.put(page,copy)}))}
return r},function(){return caches.match(page).then(function(r){return r||Response.error()})}))});
`;
