/**
 * Answers to questions that are others', are over, or never were; many at once to one of one's own.
 */
import { calls } from '../../../support/hands.ts';
import type { Attack } from '../attack.ts';

interface Waiting {
  readonly waiting?: readonly { readonly callId: string }[];
}
const ANSWERS = ['once', 'no', 'later', 'always-tool', 'always-command', 'yes'] as const;

export const approvals: Attack = {
  name: 'approvals',
  inSession: true,
  async run({ target, of, int, call, drive, found }) {
    for (let left = int(2, 8); left > 0; left--)
      await call('POST', `/api/approvals/${encodeURIComponent(of([...target.ids, 'c1', '..']))}/answer`, {
        json: { answer: of(ANSWERS), words: 'x'.repeat(int(0, 3_000)) },
      });
    await call('PUT', '/v1/agents/lead/config', { json: { coordination: { toolsets: { files: 'ask' } } } });
    const path = `asked-${int(0, 1_000_000)}.md`;
    await drive(calls('write_file', { path, content: 'Hm.' }));
    const answer = await call('GET', '/api/approvals');
    const { waiting = [] } = answer?.status === 200 ? (JSON.parse(answer.text) as Waiting) : {};
    for (const { callId } of waiting) {
      const answered = await Promise.all(
        Array.from({ length: int(2, 5) }, () =>
          call('POST', `/api/approvals/${callId}/answer`, {
            json: { answer: of(['once', 'no'] as const), words: '' },
          }),
        ),
      );
      const taken = answered.filter((each) => each?.status === 200).length;
      if (taken > 1) found(`one question was answered ${taken} times`);
    }
  },
};
