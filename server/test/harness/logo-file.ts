import sharp from 'sharp';

/** A PNG file of one color. */
export function logoFile(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#7c3aed' } })
    .png()
    .toBuffer();
}
