/** A scripted mind that works on a task: it writes a file, commits it, and asks for the review. */
import type { Part, ScriptedRequest } from './scripted-model.ts';

/** The next step on the task of which the newest message tells. A command may wait for a yes. */
export function greetByName({ body, last: said, results }: ScriptedRequest): readonly Part[] {
  const all = JSON.stringify(body.messages).replaceAll('\\"', '"');
  // The conversation has earlier tasks, too.
  const newest = (pattern: RegExp) => [...all.matchAll(pattern)].at(-1)?.[1] ?? '';
  const ids = { projectId: newest(/Its projectId is ([\w-]+)/g), taskId: newest(/#\d+ “[^”]*”, id ([\w-]+),/g) };
  const place = newest(/in the folder “([^”]+)”/g);
  const last = results.at(-1) ?? '';
  if (last.startsWith('This waits for the human')) return [{ say: 'I have asked you.' }];
  if (last.includes('greet.txt') && !last.includes('Exit status'))
    return [{ call: 'run_command', input: { command: `cd ${place} && git add . && git commit -qm "Greet by name"` } }];
  if (said.includes('The human said yes') || /Exit status/.test(last))
    return [{ call: 'transition_task', input: { ...ids, status: 'review', note: 'It greets by name.' } }];
  if (results.length === 0)
    return [{ call: 'write_file', input: { path: `${place}/greet.txt`, content: 'Hello, Ada\n' } }];
  return [{ say: 'It waits for your review.' }];
}
