/** Which answers are said to the person: those are new to them, and nothing else is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isNews } from '../../../../src/shared/domain/read-marks.ts';
import { isKnown } from '../../../../src/shared/protocol/documents/kinds.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { teamScript } from '../../../support/scripted-model.ts';
import { openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(() => bench.close());

/** What is new to the person, by whose conversation it is. */
const news = (house: Household) =>
  house.stored
    .flatMap(documentsOf)
    .flatMap((doc) => (isKnown(doc) && doc.type === 'message' && isNews(doc) ? [doc.agentId] : []));
const settle = async (house: Household) => {
  await house.until(() => house.of('call-ended').length > 0);
  await house.untilQuiet();
};

it('the greetings of a WAKE are not new, answers to what the person wrote are', async () => {
  const house = await bench.open();
  await house.start();
  await house.wake([payload(0), payload(1), payload(2)]);
  await settle(house);
  expect(house.of('message').filter(({ role }) => role === 'assistant')).toHaveLength(4);
  expect(news(house)).toEqual([]);
  await house.post({ text: 'How are you?', to: payload(1).id });
  await house.until(() => news(house).length === 1);
  await house.post({ text: 'And you?' });
  await house.until(() => news(house).length === 2);
  expect(news(house)).toEqual([payload(1).id, 'lead']);
  await house.close();
});

it('the birth of somebody is not new either', async () => {
  const house = await bench.open();
  await house.start();
  await house.summon([0, 1]);
  await settle(house);
  expect(news(house)).toEqual([]);
  await house.close();
});

it('answers messages that waited to the person, but not its greeting', async () => {
  const house = await bench.open();
  await house.team.directory.set({
    agents: [{ agentId: payload(0).id, name: 'Lyra', position: 0, retired: false }],
  });
  await house.start();
  await house.post({ text: 'Read this when you wake.', to: payload(0).id });
  await house.wake([payload(0)]);
  await settle(house);
  await house.until(() => house.requestsOf(1).length === 2);
  await house.untilQuiet();
  expect(news(house)).toEqual([payload(0).id]);
  await house.close();
});

it("marks an answer to an agent's words or to a thread as an echo", async () => {
  const house = await bench.open();
  const usual = teamScript();
  house.model.follow((request) =>
    request.seat === 1 && /tell Sage/.test(request.last) && request.results.length === 0
      ? [{ call: 'message_agent', input: { to: payload(1).id, message: 'The tide table is wrong.' } }]
      : usual(request),
  );
  const member = (position: 0 | 1, name: string) => ({ agentId: payload(position).id, name, position, retired: false });
  await house.team.directory.set({ agents: [member(0, 'Lyra'), member(1, 'Sage')] });
  await house.start();
  await house.wake([payload(0), payload(1)]);
  await settle(house);
  await house.post({ text: 'Please tell Sage about the tide table.', to: payload(0).id });
  await house.until(() => house.requestsOf(1).length === 3);
  await house.untilQuiet();
  await house.host.rouse(payload(1).id, 'there is a message');
  await house.untilQuiet();
  expect(house.requestsOf(2).length).toBeGreaterThan(1);
  expect(news(house)).toEqual([payload(0).id]);
  await house.close();
});
