/** Edge in pixels of each file of a logo. */
export const LOGO_EDGES = { preview: 256, header: 96, icon: 32 } as const;

export type LogoFile = keyof typeof LOGO_EDGES;

/** A logo as PNG files that this service encoded. */
export interface Logo extends Readonly<Record<LogoFile, Buffer>> {
  /** Hash of the files, part of their URLs. */
  readonly id: string;
}
