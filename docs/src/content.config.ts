import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro/content/config';
import { glob } from 'astro/loaders';

/** Pages lie where they are read in the repository; those made from code are in .generated while the site is built. */
export const collections = {
  docs: defineCollection({
    loader: glob({
      base: '.',
      pattern: ['index.md', '{guides,concepts,operating,security}/**/*.md', '.generated/**/*.md'],
      generateId: ({ entry }) =>
        entry
          .replace(/^\.generated\//, '')
          .replace(/\.md$/, '')
          .replace(/\/index$/, ''),
    }),
    schema: docsSchema(),
  }),
};
