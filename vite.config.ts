import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ isSsrBuild }) => ({
  plugins: isSsrBuild ? [] : [react()],
  build: isSsrBuild
    ? { target: 'node20', emptyOutDir: true, sourcemap: true }
    : { outDir: 'dist/page', emptyOutDir: true, target: 'es2023', sourcemap: false },
  worker: { format: 'es' },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], environment: 'node' } },
      { extends: true, test: { name: 'ui', include: ['test/unit/**/*.test.tsx'], environment: 'jsdom' } },
      { extends: true, test: { name: 'relay', include: ['test/relay/**/*.test.ts'], environment: 'node', testTimeout: 30_000, hookTimeout: 60_000 } },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts', 'test/faults/**/*.test.ts'],
          environment: 'node',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
}));
