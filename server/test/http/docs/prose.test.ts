import { describe, expect, it } from 'vitest';
import { inlineProse, prose } from '../../../src/http/docs/prose.ts';

describe('prose', () => {
  it('makes paragraphs, lists, code, strong text and links', () => {
    expect(
      prose('One `a<b` **two**\nthree\n\n- [here](/docs)\n- [there](https://example.com/x)').toString(),
    ).toBe(
      '<p>One <code>a&lt;b</code> <strong>two</strong> three</p><ul><li><a href="/docs">here</a></li><li><a href="https://example.com/x">there</a></li></ul>',
    );
  });

  it('makes no link out of an address that runs script or hides its host', () => {
    const hostile = '[a](javascript:alert(1)) [b](//evil.example) [c](data:text/html,x) [d](/x"onclick="y)';
    const markup = inlineProse(hostile).toString();
    expect(markup).not.toContain('href="javascript');
    expect(markup).not.toContain('href="//');
    expect(markup).not.toContain('href="data');
    expect(markup).not.toContain('"onclick');
  });

  it('renders nothing for a missing description', () => {
    expect(prose(undefined).toString()).toBe('');
  });
});
