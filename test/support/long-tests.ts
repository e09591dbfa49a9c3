/** The long tests of a file that a plain run leaves out, while its other tests run each time. */
import { it } from 'vitest';
import { leftOutOfRun } from './guarded.ts';

/** Registers a test, as `it` does. */
export type Register = (name: string, test: () => Promise<void>) => void;

const registerNothing = () => undefined;

/**
 * `it` for the long tests of this file, which `GUARDED` has beside itself. Where this run leaves
 * them out, nothing is registered.
 */
export const longTests = (file: string): Register => (leftOutOfRun().includes(file) ? registerNothing : it);
