/** How a tool answers: in words, for a mind. */
import type { ToolOutcome } from './contracts.ts';

/** The caller did something that cannot be done; it may try again. */
export const toolError = (text: string): ToolOutcome => ({ text, isError: true });
export const toolDone = (text: string): ToolOutcome => ({ text, isError: false });
