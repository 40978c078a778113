// Structural types of the platform APIs the SDK uses, so that it compiles without DOM and Node types.

interface SignalShape {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The platform's `AbortSignal` type if it is loaded, else a structural one. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } } ? Own : SignalShape;

/** The platform's `Response` type if it is loaded, else a structural one. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Own } }
  ? Own
  : {
      readonly status: number;
      readonly headers: { get(name: string): string | null };
      text(): Promise<string>;
    };

export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: Signal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

/** The part of `fetch` that the SDK uses. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** `Node.js/24`, `Deno/2.5.0`, `Cloudflare-Workers`; empty when the platform has no user agent. */
export function platformName(): string {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent?.split(' ')[0] ?? '';
}
