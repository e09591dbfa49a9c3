/** Answers that several modules of this folder give. */
import type { ProjectRefusal, Refused } from './contract.ts';

export const refuse = (reason: ProjectRefusal, detail: string): Refused => ({ ok: false, reason, detail });
export const NO_PROJECT = refuse('no-project', 'There is no such project.');
export const NO_TASK = refuse('no-task', 'There is no such task in this project.');
export const done = <Value>(value: Value): { readonly ok: true; readonly value: Value } => ({ ok: true, value });
