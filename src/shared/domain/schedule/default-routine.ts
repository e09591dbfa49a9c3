/** The default routine of an agent: it checks whether something waits, and does it. */

/** Minutes between two runs. */
export const DEFAULT_INTERVAL = 30;
export const DEFAULT_ROUTINE_NAME = 'Pulse';

export const DEFAULT_INSTRUCTIONS = `This is your regular look at what there is to do, {{AGENT_NAME}}. In this order:

1. Read what waits in your inbox, and answer what needs an answer.
2. Recall what you meant to do, and what you promised to whom.
3. Look at the threads that you take part in, where there are any.
4. Choose one thing that is yours to do, and say that you take it.
5. Do it, or do the next step of it.
6. Report in one or two sentences what you did, or that nothing was to be done.`;

/**
 * The text until version 0.1, which named projects and tasks that did not exist. Routines of that
 * time have stored it.
 */
const BEFORE = DEFAULT_INSTRUCTIONS.replace(
  'Look at the threads that you take part in, where there are any.',
  'Look at the threads and projects you take part in, and at the tasks that are ready.',
);

/** The instructions of a routine as its agent receives them. */
export const instructionsOf = (stored: string): string => (stored === BEFORE ? DEFAULT_INSTRUCTIONS : stored);
