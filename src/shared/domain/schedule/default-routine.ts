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

/** What a routine does that works on the tasks of projects. */
export const PROJECT_INSTRUCTIONS = `You work on the tasks of your projects, {{AGENT_NAME}}. Take these steps in this order:

1. **Inbox.** Read what waits with \`read_inbox\`, and answer what needs an answer.
2. **Memories.** Recall what you know of this work. \`search_conversations\` finds what was said before.
3. **Projects.** Look at your projects with \`get_my_projects\`.
4. **Ready tasks.** For each project, look at what you may take with \`get_ready_tasks\`. If nothing is ready, stop here.
5. **Claim.** Choose the most urgent task and claim it with \`claim_task\`. If it is taken, choose the next one. Work on one task at a time.
6. **Work.** Read everything about it with \`get_task_context\`, then do it. When a criterion is met, say so with \`meet_criterion\`, and name what shows it.
7. **Pull request.** When the work is committed, ask for it to be accepted with \`open_pull_request\`. Where there is nothing to commit, say in the note where the result is.
8. **Transition.** Move the task to review with \`transition_task\` once every criterion is met. If you cannot go on, move it to blocked and say why. If your time is short, give it back with \`release_task\`, and say what is done and what is left.
9. **Report.** Say in one or two sentences what you did. Use \`message_human\` only for what the human must decide.`;

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
