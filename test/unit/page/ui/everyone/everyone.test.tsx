import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { answersTo } from '../../../../../src/page/state/everyone.ts';
import { NOW, runningSession, said, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

test('sends one message to each awake agent, and to no other', async () => {
  const page = await openPage({
    docs: team(3),
    path: '/everyone',
    snapshot: runningSession({ awake: ['agent-1', 'agent-3'] }),
  });
  await page.user.type(await screen.findByRole('textbox', { name: 'Message to everyone who is awake' }), 'Well?');
  expect(screen.getByText('2 agents · free in the demo')).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Ask' }));
  await waitFor(() => expect(page.relay.posted).toHaveLength(2));
  expect(page.relay.posted.map(({ to, text }) => [to, text])).toEqual([
    ['agent-1', 'Well?'],
    ['agent-3', 'Well?'],
  ]);
  const answers = screen.getByRole('region', { name: 'Answers' });
  expect(within(answers).getAllByRole('listitem')).toHaveLength(2);
});

test('disables questions while no agent is awake', async () => {
  await openPage({ docs: team(2), path: '/everyone' });
  expect(await screen.findByText('Nobody is awake')).toBeDefined();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Ask' }).disabled).toBe(true);
});

test('the answers to a message are those of its agent before the person’s next one', () => {
  const mine = (text: string, time: number, clientId: string) =>
    said('agent-1', 'human', text, time, { clientId, sessionId: 'session-2' });
  const theirs = (text: string, time: number) => said('agent-1', 'agent-1', text, time, { sessionId: 'session-2' });
  const messages = [
    theirs('Before', NOW),
    mine('Well?', NOW + 1, 'c1'),
    theirs('One', NOW + 2),
    said('agent-1', 'agent-2', 'A letter', NOW + 3, { sessionId: 'session-2' }),
    theirs('Two', NOW + 4),
    mine('And?', NOW + 5, 'c2'),
    theirs('Three', NOW + 6),
  ];
  expect(answersTo('c1', 'agent-1', messages)).toEqual([messages[2], messages[4]]);
  expect(answersTo('c9', 'agent-1', messages)).toEqual([]);
});
