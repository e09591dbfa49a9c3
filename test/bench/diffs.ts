/**
 * What another household waits for its team while one household asks for 120 diffs at once, beside
 * the same calls on the same relay without them.
 */
import { projectSchema, taskSchema } from '../../src/shared/protocol/projects.ts';
import { calls, startHands } from '../support/hands.ts';
import { browserOf } from '../support/open-relay.ts';
import type { RelayOrigin } from '../support/relay.ts';
import { openLink } from '../support/sign-in.ts';
import { percentile, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

interface Sizes {
  readonly from: RelayOrigin;
  readonly diffs: number;
  /** Changed files of the task. */
  readonly files: number;
  /** Calls without diffs. */
  readonly calm: number;
}
const LIMIT_MS = 200;

/** Half a minute. */
export const diffs = definePart<Sizes>({
  name: 'diffs',
  needs: 'relay',
  full: { from: 'built', diffs: 120, files: 20, calm: 500 },
  smoke: { from: 'sources', diffs: 3, files: 1, calm: 3 },
  run: ({ from, diffs: count, files, calm: most }) =>
    withOpened(async (keep) => {
      const args = ['--rate', '100000', '--burst', '1000000'];
      const hands = keep(await startHands(args, { from, terminal: true }), (opened) => opened.close());
      await hands.grant({ toolsets: { files: 'allow', projects: 'allow' } });
      const good = async (method: string, path: string, json?: object): Promise<unknown> => {
        const answer = await hands.call(method, path, json);
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
        return await answer.json();
      };
      const { projectId } = projectSchema.parse(
        await good('POST', '/v1/projects', { name: 'Many diffs', agents: ['a1'] }),
      );
      const path = `/v1/projects/${projectId}/tasks`;
      const { taskId } = taskSchema.parse(await good('POST', path, { title: 'Work', columnId: 'ready' }));
      const ids = { projectId, taskId };
      const [said = ''] = await hands.works(calls('claim_task', ids));
      const folder = /in the folder “([^”]+)”/.exec(said)?.[1];
      if (folder === undefined) throw new Error(said);
      const written = Array.from({ length: files }, (_none, n) =>
        calls('write_file', { path: `${folder}/${n}.md`, content: `Line of file ${n}.\n`.repeat(200) }),
      );
      await hands.works(calls('claim_task', ids), ...written, calls('transition_task', { ...ids, status: 'review' }));

      const { url } = hands.relay();
      const other = browserOf(url, await openLink(await hands.relay().newLink()));
      await other.fetch('/api/home', { method: 'POST', json: { beside: true, anew: false } });
      const agents = [{ agentId: 'b1', name: 'Bea', position: 4, retired: false }];
      await other.fetch('/api/team', { method: 'PUT', json: { agents } });
      const team = async () => {
        const asked = performance.now();
        const answer = await other.fetch('/api/team');
        await answer.text();
        if (answer.status !== 200) throw new Error(`The team was answered by ${answer.status}.`);
        return performance.now() - asked;
      };
      const alone: number[] = [];
      for (let n = 0; n < most; n++) alone.push(await team());
      let ended = 0;
      const all = Array.from({ length: count }, async () => {
        const answer = await hands.call('GET', `${path}/${taskId}/diff`);
        await answer.text();
        ended += 1;
        if (answer.status !== 200) throw new Error(`A diff was answered by ${answer.status}.`);
      });
      const beside: number[] = [];
      while (ended < count) beside.push(await team());
      await Promise.all(all);
      const at = (share: number, what: string): Figure => ({
        ...{ what, value: percentile(beside, share), unit: 'ms' },
        beside: { kind: 'peer', what: 'without diffs', value: percentile(alone, share) },
      });
      return {
        title: `The team of another household while one asks for ${count} diffs at once`,
        method: `${alone.length} calls without diffs, one after the other, and ${beside.length} until the last diff is answered; each diff has ${files} files`,
        figures: [
          at(0.5, 'GET /api/team, half of the calls'),
          at(0.99, 'GET /api/team, 99 of 100'),
          {
            ...{ what: '  the slowest', value: Math.max(...beside), unit: 'ms' },
            beside: { kind: 'limit', what: 'for an honest call beside attacks', value: LIMIT_MS },
          },
        ],
      };
    }),
});
