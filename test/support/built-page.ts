/**
 * The browsers' tests look at the page as it is built: it is built from the sources as they are,
 * where that is not done yet.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BUILD = fileURLToPath(new URL('../../server/startup/build.mjs', import.meta.url));

export default async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD]);
}
