/** One message of an event stream (server-sent events). */
export interface Message {
  readonly id: string | null;
  readonly data: string;
}

/**
 * Parses an event stream (WHATWG HTML, "event stream interpretation"). Chunks may be split anywhere, also inside CRLF or
 * a multi-byte character. Ignores comments and messages without data.
 */
export class MessageReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #afterReturn = false;
  #id: string | null = null;
  #data: string[] = [];

  read(chunk: Uint8Array): Message[] {
    const messages: Message[] = [];
    const text = this.#decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const letter = text.charAt(at);
      if (letter === '\n' && this.#afterReturn) {
        start = at + 1;
      } else if (letter === '\n' || letter === '\r') {
        this.#parseLine(this.#rest + text.slice(start, at), messages);
        this.#rest = '';
        start = at + 1;
      }
      this.#afterReturn = letter === '\r';
    }
    this.#rest += text.slice(start);
    return messages;
  }

  #parseLine(line: string, messages: Message[]): void {
    if (line === '') {
      if (this.#data.length > 0) messages.push({ id: this.#id, data: this.#data.join('\n') });
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    if (name === 'id') this.#id = value;
  }
}
