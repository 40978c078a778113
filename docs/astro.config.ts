import { satteri } from '@astrojs/markdown-satteri';
import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';
import { SIDEBAR } from './src/sidebar.ts';

/** The search is made when the browser is idle, which on a busy machine can be never: a second is enough to wait for that. */
const IDLE_SOON =
  'const idle=window.requestIdleCallback;if(idle)window.requestIdleCallback=(run)=>idle(run,{timeout:1000})';

// oxlint-disable-next-line import/no-default-export -- Astro demands one
export default defineConfig({
  base: '/docs',
  trailingSlash: 'never',
  // docs/build.ts finishes the site there and moves it to docs/dist in one step.
  outDir: './.build',
  build: { format: 'directory', inlineStylesheets: 'never' },
  image: { service: passthroughImageService() },
  prefetch: false,
  devToolbar: { enabled: false },
  // Smart punctuation would turn the `--` of options into a dash, and a copied command would fail.
  markdown: { processor: satteri({ features: { smartPunctuation: false } }) },
  integrations: [
    starlight({
      title: 'Caudal',
      description: 'Collect and send money on Colombia’s Bre-B and PSE rails.',
      favicon: '/favicon.svg',
      head: [{ tag: 'script', content: IDLE_SOON }],
      customCss: ['./src/styles/caudal.css'],
      sidebar: SIDEBAR.map(({ label, items }) => ({ label, items: [...items] })),
      routeMiddleware: './src/spanish-pages.ts',
      components: { Footer: './src/components/Footer.astro' },
      markdown: {
        processedDirs: ['./guides/', './concepts/', './operating/', './security/', './.generated/'],
      },
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        themes: ['github-dark', 'github-light'],
        styleOverrides: {
          borderRadius: '10px',
          codeFontSize: '0.84rem',
          codeBackground: 'var(--sl-color-gray-6)',
          frames: { frameBoxShadowCssValue: 'none' },
        },
        // Wrapped, nothing of a command is hidden on a phone.
        defaultProps: { frame: 'none', wrap: true },
      },
    }),
  ],
});
