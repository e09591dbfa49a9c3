/** The browsers' tests look at the page as it was built: without one, each would wait for a minute and say nothing of it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export default function setup(): void {
  if (!existsSync(fileURLToPath(new URL('../../dist/page/index.html', import.meta.url))))
    throw new Error('The page is not built. Run: npm run build');
}
