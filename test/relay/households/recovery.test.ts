/** What a relay makes at its start of what one before it left, when it was killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsSchema } from '../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { calls, type Hands, startHands } from '../../support/hands.ts';
import { clockAhead } from '../../support/moved-clock.ts';
import { createRepository } from '../../support/person-repository.ts';

const HOUR = 3_600_000;

describe('a relay that was killed', () => {
  let hands: Hands;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'roost-recovery-'));
    hands = await startHands([], { store: 'pglite' });
    await hands.grant({ toolsets: { shell: 'allow' } });
  });
  afterAll(async () => {
    await hands.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const good = async (method: string, path: string, json?: unknown): Promise<unknown> => {
    const answer = await hands.call(method, path, json);
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
    return text === '' ? null : JSON.parse(text);
  };

  it.each([
    ['at once', {}],
    ['an hour later', clockAhead(HOUR)],
  ])(
    'starts %s, and ends the attempt of a run that had claimed a task as lost, with its receipt',
    async (when, clock) => {
      const repository = createRepository(join(folder, when), { 'bread.txt': 'rye\n' });
      const { projectId } = projectSchema.parse(
        await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], kind: 'git', repository }),
      );
      const made = { title: 'Add a price', columnId: 'ready' };
      const { taskId } = taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, made));
      const turns = [
        calls('claim_task', { projectId, taskId }),
        calls('run_command', {
          command:
            'cd "$(dirname "$(ls -t projects/*/*/bread.txt | head -1)")" && echo price >> bread.txt && git commit -qam Price',
        }),
      ];
      hands.model.follow(({ body }) => turns[(body.messages.length - 1) / 2] ?? 'silent');
      const routine = { kind: 'routine', agentId: 'a1', name: `Work ${when}`, instructions: 'Work.' };
      const timing = { kind: 'weekly', days: [1], time: '07:30' };
      const added = scheduledSchema.parse(await good('POST', '/v1/pulse-routines', { ...routine, timing }));
      const before = hands.model.requests.length;
      await good('POST', `/v1/pulse-routines/${added.scheduleId}/trigger`);
      await expect
        .poll(() => hands.model.requests.slice(before).at(-1)?.results.join(), { timeout: 30_000 })
        .toContain('Exit status 0');

      hands.model.follow(() => [{ say: 'Done.' }]);
      await hands.restart(clock);
      const attempts = async () =>
        attemptsSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks/${taskId}/attempts`)).attempts;
      await expect
        .poll(attempts, { timeout: 20_000 })
        .toMatchObject([
          { outcome: 'lost', receipt: { commits: [{ subject: 'Price' }], files: [{ path: 'bread.txt' }] } },
        ]);
      expect(taskSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks/${taskId}`))).toMatchObject({
        ...{ columnId: 'ready', claim: null },
      });
    },
  );
});
