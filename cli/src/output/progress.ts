import type { Screen } from './screen.ts';

const EVERY_MS = 120;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Says on stderr that something goes on: a moving line on a terminal, one that stays elsewhere. */
export async function withProgress<T>(screen: Screen, text: string, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) {
    screen.note(`${text} …`);
    return work();
  }
  const began = performance.now();
  let frame = 0;
  const draw = () => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    const mark = FRAMES[frame % FRAMES.length] ?? '';
    process.stderr.write(
      `\r\u001b[K${screen.styleNote('cyan', mark)} ${text} … ${seconds > 0 ? `${seconds} s` : ''}`,
    );
    frame += 1;
  };
  draw();
  const timer = setInterval(draw, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    process.stderr.write('\r\u001b[K');
  }
}
