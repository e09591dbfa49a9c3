/**
 * The relay is killed (`kill -9`) at a random moment while somebody speaks, and started again on
 * the same home: no word that the page has shown is missing, none stands twice, the session is
 * closed as a crash, everyone sleeps, and WAKE goes on from there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { Fault, demand } from './checks.ts';
import { messagesIn, readLedger, readShown, textsIn, type Shown } from './evidence.ts';
import { eventually, TEAM, type House, type Who } from './household.ts';
import { pick } from './pick.ts';
import { plain, QUICK, SLOW } from './words.ts';

/** ms within which the relay is killed, after the last of them was asked. */
const WITHIN = 2_000;
/** ms from its start within which a relay that recovers is killed again. */
const WITHIN_START = 1_500;

export type Moment =
  /** While eggs find their names. */
  | 'birth'
  /** While some of those awake answer. */
  | 'talk'
  /** From the click on WAKE on, while the team says hello. */
  | 'wake'
  /** As `talk`; and once more while it starts again. */
  | 'twice';
export const MOMENTS: readonly Moment[] = ['talk', 'wake', 'twice', 'talk'];

/** Everyone is awake, or is brought to be. */
export async function wakeAll(house: House): Promise<void> {
  const visitor = house.visitor();
  house.words.pace(QUICK);
  for (let presses = 0; ; presses++) {
    const seats = await visitor.seats();
    if (seats.every((seat) => seat.state === 'awake')) return;
    if (presses > 2)
      throw new Fault('Waking everyone', [
        `pressed ${presses} times, and the seats are ${seats.map((seat) => seat.state).join(', ')}`,
      ]);
    await visitor.press(/^(WAKE|SUMMON( \d MORE)?)$/);
    await visitor.untilSeats(
      'nobody asleep',
      (now) =>
        now.every((seat) => seat.state === 'awake' || seat.state === 'empty') &&
        now.some((seat) => seat.state === 'awake'),
    );
  }
}

/** Somebody begins to speak. Answers with whose conversations there are words in. */
async function stir(house: House, moment: Moment, random: () => number): Promise<Who[]> {
  const visitor = house.visitor();
  if (moment === 'birth') {
    house.words.pace({ ...SLOW, mostWords: 150 });
    await visitor.press('SUMMON');
    return [LEAD_ID];
  }
  await wakeAll(house);
  if (moment === 'wake') {
    await visitor.press('End session');
    await visitor.untilAll('sleeping');
    house.words.pace(SLOW);
    await visitor.press('WAKE');
    return [LEAD_ID, ...pick(random, TEAM.slice(1), 2)];
  }
  house.words.pace(SLOW);
  const speakers = pick(random, TEAM, 1 + Math.floor(random() * 4));
  const [first = LEAD_ID, ...others] = speakers;
  await visitor.open(first);
  await visitor.say('Tell me everything.');
  for (const who of others) await house.tell(who, 'Tell me everything, too.');
  return speakers;
}

/** One kill. Leaves everyone awake. */
export async function relayKillRound(house: House, moment: Moment, random: () => number): Promise<void> {
  const visitor = house.visitor();
  const speakers = await stir(house, moment, random);
  await sleep(random() * WITHIN);

  const open = (await visitor.page.getByRole('region', { name: /^Conversation with / }).isVisible())
    ? await readShown(visitor.page)
    : null;
  await house.relay().kill('SIGKILL');
  await visitor.page
    .getByText(/The relay cannot be reached/)
    .first()
    .waitFor();
  const cut = await visitor.seats();
  demand(
    'With the relay gone',
    cut
      .filter((seat) => seat.state !== 'sleeping' && seat.state !== 'empty')
      .map((seat) => `seat ${seat.seat} is ${seat.state}`),
  );
  // What the page shows now is all that it ever showed.
  const last = open && (await readShown(visitor.page));
  if (open && last) demand('With the relay gone', lost(open, last));
  const shown = await house.readAll(speakers);
  const ledger = await readLedger(visitor.page);

  if (moment === 'twice') await house.startAndKillRelay(random() * WITHIN_START);
  await house.startRelay();
  const tryNow = visitor.page.getByRole('button', { name: 'Try now' });
  // The page comes back by itself; a person may be faster.
  if (random() < 0.5)
    await tryNow.click({ timeout: 1_000 }).catch(async (error: unknown) => {
      if (await tryNow.isVisible()) throw error;
    });
  await tryNow.waitFor({ state: 'detached' });

  const { events, shown: after } = await house.holdAgainst(`After the relay was killed (${moment})`, { shown, ledger });
  const seats = await visitor.seats();
  const end = events.findLast(({ event }) => event.kind === 'session-ended')?.event;
  const began = events.findLast(({ event }) => event.kind === 'session-started')?.event;
  demand(`After the relay was killed (${moment})`, [
    ...seats
      .filter((seat) => seat.state !== 'sleeping' && seat.state !== 'empty')
      .map((seat) => `seat ${seat.seat} is ${seat.state}`),
    ...(end?.kind === 'session-ended' &&
    began?.kind === 'session-started' &&
    end.sessionId === began.sessionId &&
    end.reason === 'crash'
      ? []
      : [`the last session ended as ${JSON.stringify(end)}`]),
    ...[...after].flatMap(([who, rows]) => unmarked(house, rows).map((fault) => `${who}: ${fault}`)),
  ]);
  await visitor.page
    .locator('.pill')
    .getByText(/the relay crashed/)
    .waitFor();

  await goOn(house, after, random);
  demand('All along', visitor.complaints);
}

const lost = (before: readonly Shown[], after: readonly Shown[]): string[] =>
  before
    .flatMap((row) => row.texts)
    .filter((text) => !after.some((now) => now.texts.some((same) => same.startsWith(text))))
    .map((text) => `"${text.slice(-40)}" was shown, and is gone`);

/**
 * An answer that is not whole says that it was cut, and one that is whole does not; none is still
 * being written.
 */
function unmarked(house: House, rows: readonly Shown[]): string[] {
  const wholes = new Set(house.words.told.values());
  return rows
    .filter((row) => !row.mine)
    .flatMap((row) => {
      if (row.open) return ['an answer is still being written'];
      const whole = row.texts.length > 0 && row.texts.every((text) => wholes.has(text));
      const cut = row.status.startsWith('The relay was cut off here.');
      // Cut after the last word and before the end of it is both.
      return whole || cut ? [] : [`"${row.texts.join(' ').slice(-40)}" is cut and does not say so ("${row.status}")`];
    });
}

/** Of a greeting to which nobody said anything, at least the beginning is told. */
const GREETING_KEPT = 200;

/**
 * What `agentId` said last: of all, and in the last session in which the person said something to
 * it.
 */
function lastWords(docs: readonly Doc[], agentId: string): { readonly words: string; readonly whole: boolean }[] {
  const messages = messagesIn(docs)
    .filter((doc) => doc.agentId === agentId)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const talks = new Set(
    messages.filter((doc) => doc.author === 'human' && textsIn(doc).length > 0).map((doc) => doc.sessionId),
  );
  const said = messages.filter((doc) => doc.author === agentId && textsIn(doc).length > 0);
  const answer = said.findLast((doc) => talks.has(doc.sessionId));
  return [...new Set([answer, said.at(-1)])].flatMap((doc) =>
    doc ? [{ words: textsIn(doc).at(-1) ?? '', whole: doc === answer }] : [],
  );
}

/** The next session: everyone comes back, remembers the last words, and answers. */
async function goOn(house: House, shown: ReadonlyMap<Who, readonly Shown[]>, random: () => number): Promise<void> {
  const asked = house.model.requests.length;
  const before = await readLedger(house.visitor().page);
  const seats = await house.visitor().seats();
  const slept = seats.filter((seat) => seat.state === 'sleeping').map((seat) => seat.seat);
  await wakeAll(house);
  const requests = house.model.requests.slice(asked);
  const woken = requests.filter(
    (request) => request.body.messages.length === 1 && request.last.startsWith('You are waking.'),
  );
  const forgotten: string[] = [];
  for (const who of shown.keys()) {
    const agentId = await house.agentId(who);
    const given =
      who === LEAD_ID
        ? requests.find((request) => request.seat === null)?.system
        : woken.find((request) => request.seat === who)?.first;
    if (agentId === null || given === undefined) continue;
    const told = plain(given);
    // What was said in a talk is given whole; of a greeting that nobody answered, the beginning.
    for (const { words, whole } of lastWords(before, agentId))
      if (!told.includes(words) && (whole || !told.includes(`greeting: “${words.slice(0, GREETING_KEPT)}`)))
        forgotten.push(`${who} was not given its last ${whole ? 'answer' : 'greeting'} "${words.slice(0, 20)}…"`);
  }
  demand('In the next session', [
    ...slept
      .filter((seat) => woken.filter((request) => request.seat === seat).length !== 1)
      .map((seat) => `seat ${seat} was not woken once`),
    ...forgotten,
  ]);
  const [who = LEAD_ID] = pick(random, TEAM, 1);
  await house.visitor().open(who);
  await house.visitor().say('Are you there?');
  const whole = () => house.words.told.get(house.model.requests.length - 1);
  const rows = await eventually(
    () => readShown(house.visitor().page),
    (now) => now.at(-1)?.texts[0] === whole() && now.at(-1)?.open === false,
  );
  if (rows.at(-1)?.texts[0] !== whole())
    throw new Fault('In the next session', [`${who} answered "${rows.at(-1)?.texts[0] ?? ''}"`]);
}
