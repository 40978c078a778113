import type { Screen } from './screen.ts';

const FRAME_INTERVAL_MS = 120;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows progress on stderr: a spinner on a terminal, one static line elsewhere. */
export async function withProgress<T>(screen: Screen, text: string, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) {
    screen.note(`${text} …`);
    return work();
  }
  const startedAt = performance.now();
  let frame = 0;
  const draw = () => {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    const mark = FRAMES[frame % FRAMES.length] ?? '';
    process.stderr.write(
      `\r\u001b[K${screen.styleNote('cyan', mark)} ${text} … ${seconds > 0 ? `${seconds} s` : ''}`,
    );
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, FRAME_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  }
}
