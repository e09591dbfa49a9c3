/** Made before the first test of a run, so that none of them waits for it within its own time. */
import { relayMain } from './relay-build.ts';

export default async function setup(): Promise<void> {
  await relayMain();
}
