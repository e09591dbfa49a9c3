/** The texts of a dream that a model's server answers in one request. Pure. */
import { DREAM_INSTRUCTIONS, dreamRequest } from './dreams.ts';
import { writeSaid } from './quoting.ts';

/**
 * How an agent dreams in one answer. It stands in the system prompt. A batch has one request, so
 * the agent sees every file, and makes all its changes at once.
 */
export const BATCH_DREAM_INSTRUCTIONS = DREAM_INSTRUCTIONS.replace(
  '1. View the files that the messages of the day touch.',
  '1. Every file is before you in full. You have this one answer: make all calls of `memory` in it. They are carried out in their order, and you see no results.',
);

/** A file of the memory, in full. */
const wholeFile = ({ path, text }: { readonly path: string; readonly text: string }): string =>
  writeSaid({ head: `[Your memory, ${path}]`, text });
/** What a dream in one answer is given. `day`: the messages. Empty: nobody said anything. */
export const batchDreamRequest = (
  files: readonly { readonly path: string; readonly text: string }[],
  day: string,
): string => [...files.map(wholeFile), dreamRequest(day)].join('\n\n');
