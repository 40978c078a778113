// What the SDK needs of the platform, as shapes: its types compile where neither the DOM's nor Node's are loaded.

interface SignalShape {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The platform's own `AbortSignal` where its types are loaded. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } } ? Own : SignalShape;

export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: Signal;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<unknown>;
    };
  } | null;
}

/** `fetch`, as far as the SDK uses it. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

/** `Node.js/24`, `Deno/2.5.0`, `Cloudflare-Workers`; empty where the platform does not say. */
export function platformName(): string {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent?.split(' ')[0] ?? '';
}
