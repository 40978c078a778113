import { describe, expect, it } from 'vitest';
import { type HtmlValue, html, trustedMarkup } from '../../src/http/html.ts';

describe('html', () => {
  it('escapes every character that could leave a text or a quoted attribute', () => {
    const hostile = `"><script>alert('x')</script>&amp;`;
    expect(html`<a title="${hostile}">${hostile}</a>`.toString()).toBe(
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;">&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;</a>',
    );
  });

  it('keeps nested markup unescaped', () => {
    expect(html`<ul>${[html`<li>${'<b>'}</li>`, [html`<li>two</li>`]]}</ul>`.toString()).toBe(
      '<ul><li>&lt;b&gt;</li><li>two</li></ul>',
    );
  });

  it('renders nothing for null, undefined and false, and keeps zero', () => {
    expect(html`[${null}${undefined}${false}${0}${10n}${''}]`.toString()).toBe('[010]');
  });

  it('escapes the members of an array of strings', () => {
    expect(html`${['<', '>']}`.toString()).toBe('&lt;&gt;');
  });

  it('rejects an object that only looks like safe markup', () => {
    const forged = [{ toString: () => '<script>' }] as unknown as HtmlValue;
    expect(() => html`${forged}`.toString()).toThrow(TypeError);
  });

  it('passes trustedMarkup through unchanged', () => {
    expect(html`<style>${trustedMarkup('a > b { content: "x" }')}</style>`.toString()).toBe(
      '<style>a > b { content: "x" }</style>',
    );
  });
});
