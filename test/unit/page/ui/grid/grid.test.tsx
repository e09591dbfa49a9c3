import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { NAMES, agentDoc, NOW, runningSession, said, team } from '../../support/household.ts';
import { facePixels } from '../../../../../src/shared/domain/face.ts';
import { openPage } from '../../support/render.tsx';

const seats = () =>
  within(screen.getByRole('list', { name: 'The team' }))
    .getAllByRole('button')
    .flatMap((button) => {
      const name = button.getAttribute('aria-label') ?? '';
      return name.startsWith('Menu of') ? [] : [name];
    });
const seat = (name: string | RegExp) => screen.getByRole('button', { name });

test('an empty household shows eight empty seats around the lead', async () => {
  await openPage({ docs: team(0) });
  expect(seats()).toEqual([
    'seat 1, empty',
    'seat 2, empty',
    'seat 3, empty',
    'seat 4, empty',
    'Julian, lead, asleep since yesterday',
    'seat 6, empty',
    'seat 7, empty',
    'seat 8, empty',
    'seat 9, empty',
  ]);
});

test('shows every agent asleep without a session', async () => {
  await openPage({ docs: team(2) });
  expect(seats().slice(0, 3)).toEqual(['Lyra, seat 1, asleep', 'Wren, seat 2, asleep', 'seat 3, empty']);
});

test('breathes for sleeping agents on the hearth and in conversations, only while visible', async () => {
  await openPage({ docs: team(1), path: '/agent/agent-1' });
  vi.useFakeTimers();
  const hidden = vi.spyOn(document, 'hidden', 'get');
  const turn = (away: boolean) => {
    hidden.mockReturnValue(away);
    act(() => void document.dispatchEvent(new Event('visibilitychange')));
  };
  const breathing = () => [...document.querySelectorAll('[data-breath="2"] [data-asleep="true"] .face')];
  const breathes = () => {
    for (let ms = 0; ms < 10_000; ms += 100) {
      act(() => void vi.advanceTimersByTime(100));
      if (breathing().length > 0) return true;
    }
    return false;
  };
  try {
    turn(true);
    expect(breathes()).toBe(false);
    turn(false);
    expect(breathes()).toBe(true);
    expect(breathing().map((face) => face.parentElement?.classList[0])).toEqual(
      expect.arrayContaining(['chat-face', 'empty-figure']),
    );
    expect(breathing().filter((face) => face.closest('.seat'))).toHaveLength(2);
  } finally {
    hidden.mockRestore();
    vi.useRealTimers();
  }
});

test('shows answered agents awake, called ones hatching, and the others asleep', async () => {
  const hatching = [{ agentId: 'agent-2', position: 1, call: 'wake' as const, callId: 'w', name: 'Wren' }];
  await openPage({ docs: team(3), snapshot: runningSession({ awake: ['agent-1'], hatching }) });
  expect(seats().slice(0, 3)).toEqual(['Lyra, seat 1, awake', 'Wren, seat 2, waking', 'Sable, seat 3, asleep']);
});

test("shows an agent's place in the model's queue while it waits", async () => {
  const hatching = ['agent-1', 'agent-2'].map((agentId, position) => ({
    agentId,
    position,
    call: 'wake' as const,
    callId: 'w',
    name: null,
  }));
  const page = await openPage({ docs: team(2), snapshot: runningSession({ hatching }) });
  const cellText = (name: RegExp) => screen.getByRole('button', { name }).closest('li')?.textContent;
  await page.say({
    news: 'waiting',
    waiting: {
      waiting: [
        { agentId: 'agent-1', position: 1 },
        { agentId: 'agent-2', position: 2 },
        { agentId: 'lead', position: 3 },
      ],
    },
  });
  expect(cellText(/^Lyra, seat 1, next in line since /)).toContain('next in line');
  expect(cellText(/^Wren, seat 2, number 2 in line/)).toContain('number 2 in line');
  expect(cellText(/^Julian, lead, number 3 in line/)).toContain('number 3 in line');
  await page.say({ news: 'waiting', waiting: { waiting: [{ agentId: 'agent-2', position: 1 }] } });
  expect(cellText(/^Lyra, seat 1, waking$/)).not.toContain('in line');
  expect(cellText(/^Wren, seat 2, next in line/)).toContain('next in line');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(cellText(/^Wren, seat 2, asleep$/)).not.toContain('in line');
});

test('an egg has no name yet, and is the agent once it is born', async () => {
  const egg = { agentId: 'egg', position: 0, call: 'summon' as const, callId: 'w', name: null };
  const page = await openPage({ docs: team(0), snapshot: runningSession({ hatching: [egg] }) });
  expect(seats()[0]).toBe('seat 1, hatching');
  await page.hear({
    kind: 'agent-born',
    time: NOW,
    agentId: 'egg',
    position: 0,
    sessionId: 'session-2',
    name: 'Fen',
    color: '#c9b1e8',
    colorName: 'Violet Heaven',
    soul: 'Fen, then.',
    bornAt: NOW,
  });
  expect(seats()[0]).toBe('Fen, seat 1, awake');
});

test('shows all agents asleep when the relay is lost, with the reason and a retry', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  expect(seats()[0]).toBe('Lyra, seat 1, awake');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(seats()[0]).toBe('Lyra, seat 1, asleep');
  expect(screen.getByRole('alert').textContent).toContain('The relay cannot be reached');
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(page.owner.calls).toContain('reconnect');
});

test('distinguishes two agents of one name by their colours', async () => {
  await openPage({ docs: [...team(0), agentDoc('a', 'Lyra', 0), agentDoc('b', 'Lyra', 1)] });
  expect(seats().slice(0, 2)).toEqual([
    'Lyra (Violet Heaven), seat 1, asleep',
    'Lyra (Ayahuasca Vine), seat 2, asleep',
  ]);
});

test('a failed wake says why on its cell, and whole in the conversation', async () => {
  const reason = { code: 'silent' as const, message: 'It said nothing for 120 s.' };
  const page = await openPage({
    docs: team(2),
    snapshot: runningSession({ awake: ['agent-2'], asleep: [{ agentId: 'agent-1', reason }] }),
  });
  const cell = seat('Lyra, seat 1, asleep');
  expect(cell.closest('li')?.textContent).toContain('said nothing for 120\u00a0s');
  await page.user.click(cell);
  expect(screen.getByRole('note').textContent).toContain('Lyra did not come. It said nothing for 120 s.');
});

test('reports a wake that failed for all once, with what to do, and not on every cell', async () => {
  const page = await openPage({ docs: team(2), snapshot: runningSession() });
  const base = { time: NOW, sessionId: 'session-2' } as const;
  const seats = [0, 1].map((position) => ({ agentId: `agent-${position + 1}`, position, name: null }));
  await page.hear({ kind: 'call-started', ...base, callId: 'w', call: 'wake', seats });
  const reason = { code: 'failed' as const, message: 'The model refused the key.' };
  for (const { agentId, position } of seats)
    await page.hear({ kind: 'agent-asleep', ...base, agentId, position, reason });
  await page.hear({ kind: 'call-ended', ...base, callId: 'w', error: null });
  const alert = screen.getByText(/^Nobody came: all 2 sleep on/).closest('[role=alert]');
  expect(alert?.textContent).toContain('The model refused the key.');
  expect(document.body.textContent.split('refused the key').length).toBe(2);
  await page.user.click(screen.getByRole('button', { name: 'Check the model' }));
  expect(location.pathname).toBe('/connect');
  await page.user.click(screen.getByRole('button', { name: 'Try again', hidden: true }));
  expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toEqual(['name="Lyra"', 'name="Wren"']);
  expect(screen.queryByText(/^Nobody came/)).toBeNull();
});

test('shows no warning on an agent that was put to sleep by hand', async () => {
  const reason = { code: 'put-to-sleep' as const, message: 'You put it to sleep.' };
  await openPage({
    docs: team(1),
    path: '/agent/agent-1',
    snapshot: runningSession({ asleep: [{ agentId: 'agent-1', reason }] }),
  });
  expect(screen.queryByRole('note')).toBeNull();
});

test('an egg that found no name leaves its reason on the empty seat', async () => {
  const egg = { agentId: 'egg', position: 0, call: 'summon' as const, callId: 'w', name: null };
  const page = await openPage({ docs: team(0), snapshot: runningSession({ hatching: [egg] }) });
  await page.hear({
    kind: 'birth-ended',
    time: NOW,
    agentId: 'egg',
    position: 0,
    sessionId: 'session-2',
    reason: { code: 'unnamed', message: 'It found no name within 600 s.' },
  });
  expect(seat('seat 1, empty').closest('li')?.textContent).toContain('found no name within 600\u00a0s');
});

test('reaches one seat by Tab, moves by arrows, and opens a conversation by Enter', async () => {
  const page = await openPage({ docs: team(8) });
  const reachable = () =>
    within(screen.getByRole('list', { name: 'The team' }))
      .getAllByRole('button')
      .filter((button) => button.tabIndex === 0 && button.classList.contains('seat-button'));
  expect(reachable()).toHaveLength(1);
  seat('Lyra, seat 1, asleep').focus();
  await page.user.keyboard('{ArrowRight}{ArrowDown}');
  expect(document.activeElement).toBe(seat(/^Julian, lead/));
  await page.user.keyboard('{ArrowRight}{ArrowRight}{Enter}');
  expect(location.pathname).toBe('/agent/agent-5');
  expect(reachable()).toEqual([seat('Iris, seat 6, asleep')]);
  // Where a page runs from right to left, the next seat of a row stands to the left.
  seat('Lyra, seat 1, asleep').focus();
  screen.getByRole('list', { name: 'The team' }).style.direction = 'rtl';
  await page.user.keyboard('{ArrowLeft}{ArrowDown}');
  expect(document.activeElement).toBe(seat(/^Julian, lead/));
});

test('a digit goes to that seat, from the team as from anywhere', async () => {
  const page = await openPage({ docs: team(8) });
  seat('Lyra, seat 1, asleep').focus();
  await page.user.keyboard('9');
  expect(await screen.findByRole('heading', { name: 'Ondine' })).toBeDefined();
});

test('the menu of a seat opens by keyboard, wakes one agent, and gives the focus back', async () => {
  const page = await openPage({ docs: team(2), snapshot: runningSession() });
  const cell = seat('Lyra, seat 1, asleep');
  cell.focus();
  await page.user.keyboard('m');
  expect(screen.getAllByRole('menuitem').map((item) => item.textContent)).toEqual([
    'Wake Lyra',
    'About',
    'Inbox',
    'Wakes',
    'Routines',
    'Export this conversation',
    'Change Lyra…',
    'Copy soul',
    'Copy link',
    'Export as a zip',
  ]);
  expect(document.activeElement?.textContent).toBe('Wake Lyra');
  await page.user.keyboard('{Enter}');
  expect(page.relay.posted[0]?.text).toContain('name="Lyra"');
  expect(page.relay.posted[0]?.text).not.toContain('name="Wren"');
});

test('an awake agent can be put to sleep from its menu', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  await page.user.click(screen.getByRole('button', { name: 'Menu of Lyra' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Let Lyra sleep' }));
  expect(page.reach.bodies('PUT /api/v1/sessions/session-2/agent-1/sleeping')).toEqual([{ sleeping: true }]);
  expect(page.relay.asked).toEqual([]);
});

test('says on its cell that an agent is set to sleep, and continues it when woken', async () => {
  const page = await openPage({
    docs: team(2),
    snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }),
    prepare: ({ reach }) => reach.on('PUT /api/v1/sessions/session-2/agent-1/sleeping', { sleeping: false }),
  });
  await page.hear({
    kind: 'pause-flag',
    time: NOW,
    sessionId: 'session-2',
    agentId: 'agent-1',
    paused: true,
    by: 'human',
  });
  const cell = seat('Lyra, seat 1, set to sleep');
  expect(cell.closest('li')?.textContent).toContain('set to sleep');
  expect(document.getElementById(cell.getAttribute('aria-describedby') ?? '')?.textContent).toContain(
    'Continues where it was',
  );
  cell.focus();
  await page.user.keyboard('m{Enter}');
  expect(page.reach.bodies('PUT /api/v1/sessions/session-2/agent-1/sleeping')).toEqual([{ sleeping: false }]);
  expect(page.relay.posted).toEqual([]);
});

test('counts inbox messages on the cell, beside unread answers', async () => {
  const page = await openPage({
    docs: team(1),
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare: ({ reach }) => reach.on('GET /api/inbox', { unread: { 'agent-1': 3 } }),
  });
  await page.owner.call('append', [said('agent-1', 'agent-1', 'hi', NOW + 1)]);
  const cell = seat('Lyra, seat 1, awake');
  await waitFor(() =>
    expect(document.getElementById(cell.getAttribute('aria-describedby') ?? '')?.textContent).toBe(
      '1 new message. 3 messages waiting to be read',
    ),
  );
  page.reach.on('GET /api/inbox', { unread: {} });
  await page.hear({ kind: 'changed', time: NOW, what: 'inbox', agentId: 'agent-1' });
  await waitFor(() => expect(cell.closest('li')?.textContent).not.toContain('waiting to be read'));
});

test('an empty seat offers to summon there alone', async () => {
  const page = await openPage({ docs: team(2), snapshot: runningSession() });
  await page.user.click(seat('seat 9, empty'));
  await page.user.click(screen.getByRole('menuitem', { name: 'Summon into this seat' }));
  expect(page.relay.posted[0]?.text).toContain('position="8"');
  expect(page.relay.posted[0]?.text.match(/<seat /g)).toHaveLength(1);
});

test('counts new answers on the cell until they are seen', async () => {
  const page = await openPage({ docs: team(2), snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }) });
  await page.owner.call('append', [said('agent-1', 'agent-1', 'hi', NOW + 1)]);
  expect(seat('Lyra, seat 1, awake').getAttribute('aria-describedby')).not.toBeNull();
  await waitFor(() => expect(seat('Lyra, seat 1, awake').closest('li')?.textContent).toContain('1 new message'));
  await page.user.click(seat('Lyra, seat 1, awake'));
  expect(seat('Lyra, seat 1, awake').closest('li')?.textContent).not.toContain('new message');
});

describe('Changing somebody', () => {
  const open = () => openPage({ docs: team(2), path: '/agent/agent-1/change' });
  const lyra = (page: Awaited<ReturnType<typeof open>>) =>
    page.state.household.store.getState().roster.byId.get('agent-1');

  test('checks a new name, takes it, and undoes it', async () => {
    const page = await open();
    const name = await screen.findByLabelText('Name');
    await page.user.clear(name);
    await page.user.type(name, 'Marcus{Enter}');
    expect((await screen.findByRole('alert')).textContent).toContain('or one that looks the same');
    await page.user.clear(name);
    await page.user.type(name, 'Vega{Enter}');
    expect(screen.getByRole('button', { name: /^Vega, seat 1, asleep/, hidden: true })).toBeDefined();
    // All outside of the dialog is inert while it is open.
    await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Undo' }));
    expect(lyra(page)?.name).toBe('Lyra');
    await page.user.click(screen.getByRole('radio', { name: 'Jade' }));
    await page.user.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.getByRole('button', { name: 'Undo' })).toBeDefined();
  });

  test('previews and undoes a colour and a face, back to those of seat and birth', async () => {
    const page = await open();
    const [born, seat] = [lyra(page)?.face, lyra(page)?.color];
    await page.user.click(await screen.findByRole('radio', { name: 'Jade' }));
    expect(lyra(page)).toMatchObject({ color: '#4fb286', colorName: 'Jade' });
    await page.user.click(screen.getByRole('radio', { name: /its seat’s$/ }));
    expect(lyra(page)?.color).toBe(seat);
    await page.user.click(screen.getByRole('button', { name: 'Eyes, the next' }));
    const chosen = lyra(page)?.face;
    expect(chosen).toMatch(/^parts:/);
    await page.user.click(screen.getByRole('button', { name: 'Eyes, the one before' }));
    expect(facePixels('agent-1', lyra(page)?.face ?? '')).toEqual(facePixels('agent-1', born ?? ''));
    await page.user.click(screen.getByRole('button', { name: 'As at birth' }));
    expect(lyra(page)?.face).toBe(born);
    await page.user.click(screen.getByRole('button', { name: 'Other faces' }));
    expect(lyra(page)?.face).toBe(born);
    await page.user.click(screen.getByRole('button', { name: 'Face 3 of 8' }));
    expect(lyra(page)?.face).toMatch(/^parts:/);
    expect(screen.getByRole('button', { name: 'Face 3 of 8' }).getAttribute('aria-pressed')).toBe('true');
  });

  test('paints a face by pointer and keyboard, symmetrically and with undo, and saves it on demand', async () => {
    const page = await open();
    const born = lyra(page)?.face;
    await page.user.click(await screen.findByRole('button', { name: 'Paint the face' }));
    await page.user.click(screen.getByRole('button', { name: 'Clear' }));
    const lit = () =>
      screen.getAllByRole('gridcell', { name: /(?:Colour|Shade)$/ }).map((cell) => cell.getAttribute('aria-label'));
    await page.user.click(screen.getByRole('gridcell', { name: 'Row 6, column 5: empty' }));
    expect(lit()).toEqual(['Row 6, column 5: Colour', 'Row 6, column 10: Colour']);
    await page.user.click(screen.getByRole('radio', { name: 'Shade' }));
    await page.user.click(screen.getByRole('checkbox', { name: 'Both sides alike' }));
    screen.getByRole('gridcell', { name: 'Row 6, column 5: Colour' }).focus();
    await page.user.keyboard('{ArrowDown}{ArrowRight} ');
    expect(lit()[2]).toBe('Row 7, column 6: Shade');
    await page.user.keyboard(' ');
    expect(lit()).toHaveLength(2);
    await page.user.keyboard('{Control>}z{/Control}');
    expect(lit()).toHaveLength(3);
    expect(lyra(page)?.face).toBe(born);
    await page.user.click(screen.getByRole('button', { name: 'Save' }));
    expect(facePixels('agent-1', lyra(page)?.face ?? '')).toEqual([
      { x: 5, y: 6, tone: 1 },
      { x: 10, y: 6, tone: 1 },
      { x: 6, y: 7, tone: 0.55 },
    ]);
    await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Undo' }));
    expect(lyra(page)?.face).toBe(born);
  });
});

describe('Changing seats', () => {
  test('swaps two agents by Alt and an arrow key, past the lead, with a message and an undo', async () => {
    const page = await openPage({ docs: team(4) });
    act(() => seat('Lyra, seat 1, asleep').focus());
    await page.user.keyboard('{Alt>}{ArrowRight}{/Alt}');
    await screen.findByText('Lyra and Wren changed places: Lyra has seat 2 now.');
    expect(seats().slice(0, 3)).toEqual(['Wren, seat 1, asleep', 'Lyra, seat 2, asleep', 'Sable, seat 3, asleep']);
    expect(document.activeElement).toBe(seat('Lyra, seat 2, asleep'));
    // The lead's seat is nobody else's: the way down leads over it.
    await page.user.keyboard('{Alt>}{ArrowDown}{/Alt}');
    await screen.findByText('Lyra has seat 8 now.');
    expect(document.activeElement).toBe(seat('Lyra, seat 8, asleep'));
    expect(seats()[1]).toBe('seat 2, empty');
    // Keys follow the places.
    await page.user.keyboard('8');
    expect(location.pathname).toBe('/agent/agent-1');
    const [, undo = document.body] = screen.getAllByRole('button', { name: 'Undo' });
    await page.user.click(undo);
    expect(seats()[1]).toBe('Lyra, seat 2, asleep');
    // At the edge nobody moves.
    const before = page.owner.docs.length;
    act(() => seat('Wren, seat 1, asleep').focus());
    await page.user.keyboard('{Alt>}{ArrowUp}{/Alt}');
    expect(page.owner.docs.length).toBe(before);
  });

  describe('by hand', () => {
    const list = () => screen.getByRole('list', { name: 'The team' });
    const cellOf = (name: string) => seat(name).closest<HTMLElement>('.seat') ?? document.body;
    const at = (x: number, pointerType: string) => ({
      ...{ pointerId: 1, isPrimary: true, button: 0, pointerType },
      ...{ clientX: x, clientY: 0 },
    });
    /** jsdom lays nothing out: whoever is pointed at is told. */
    const pointingAt = (element: Element) => Object.assign(document, { elementFromPoint: () => element });
    afterEach(() => void Reflect.deleteProperty(document, 'elementFromPoint'));

    test('moves an agent by mouse; a short drag is a click, and Escape cancels', async () => {
      const page = await openPage({ docs: team(2) });
      pointingAt(cellOf('Wren, seat 2, asleep'));
      const drag = (to: number) => {
        fireEvent.pointerDown(seat('Lyra, seat 1, asleep'), at(0, 'mouse'));
        fireEvent.pointerMove(window, at(to, 'mouse'));
      };
      drag(5);
      fireEvent.pointerUp(window, at(5, 'mouse'));
      drag(80);
      expect(cellOf('Lyra, seat 1, asleep').hasAttribute('data-lifted')).toBe(true);
      fireEvent.keyDown(window, { key: 'Escape' });
      expect(cellOf('Lyra, seat 1, asleep').hasAttribute('data-lifted')).toBe(false);
      fireEvent.pointerUp(window, at(80, 'mouse'));
      drag(80);
      expect(cellOf('Wren, seat 2, asleep').hasAttribute('data-over')).toBe(true);
      fireEvent.pointerUp(window, at(80, 'mouse'));
      await screen.findByText('Lyra and Wren changed places: Lyra has seat 2 now.');
      expect(seats().slice(0, 2)).toEqual(['Wren, seat 1, asleep', 'Lyra, seat 2, asleep']);
      expect(page.owner.docs.filter(({ type }) => type === 'agent-change')).toHaveLength(2);
    });

    test('lifts an agent under a resting finger, and scrolls under a moving one', async () => {
      const page = await openPage({ docs: team(2) });
      pointingAt(cellOf('seat 6, empty'));
      const lifted = () => list().hasAttribute('data-moving');
      fireEvent.pointerDown(seat('Lyra, seat 1, asleep'), at(0, 'touch'));
      fireEvent.pointerMove(window, at(20, 'touch'));
      fireEvent.pointerMove(window, at(90, 'touch'));
      expect(lifted()).toBe(false);
      fireEvent.pointerUp(window, at(90, 'touch'));
      fireEvent.pointerDown(seat('Lyra, seat 1, asleep'), at(0, 'touch'));
      await waitFor(() => expect(lifted()).toBe(true));
      // The page does not scroll under it.
      expect(fireEvent.touchMove(list())).toBe(false);
      fireEvent.pointerMove(window, at(90, 'touch'));
      fireEvent.pointerUp(window, at(90, 'touch'));
      await screen.findByText('Lyra has seat 6 now.');
      expect(page.owner.docs.filter(({ type }) => type === 'agent-change')).toHaveLength(1);
    });
  });

  test('a seat is chosen in the settings too, and nobody takes the seat of who is being born', async () => {
    const page = await openPage({
      docs: team(2),
      path: '/settings/team',
      snapshot: runningSession({
        hatching: [{ agentId: 'egg', position: 2, call: 'summon', callId: 's', name: null }],
      }),
    });
    const choice = screen.getByLabelText('Seat of Lyra');
    await page.user.selectOptions(choice, 'Seat 3');
    await screen.findByText('Somebody is being born in that seat. Lyra stays.');
    await page.user.selectOptions(choice, 'Seat 2, with Wren');
    await screen.findByText('Lyra and Wren changed places: Lyra has seat 2 now.');
    expect(screen.getByLabelText<HTMLSelectElement>('Seat of Wren').value).toBe('0');
  });
});

test('a letter goes from tile to tile when one agent writes to another, and none with reduced motion', async () => {
  const animate = vi.spyOn(Element.prototype, 'animate');
  animate.mockImplementation(() => ({ finished: new Promise(() => undefined) }) as unknown as Animation);
  try {
    const page = await openPage({ docs: team(2), snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }) });
    const list = screen.getByRole('list', { name: 'The team' });
    const letters = () => list.querySelectorAll('.letter').length;
    let sent = 0;
    const writes = () =>
      page.hear({
        ...{ kind: 'message', time: NOW, messageId: `letter-${++sent}`, sessionId: 'session-2', agentId: 'agent-2' },
        ...{ author: 'agent-1', role: 'user', blocks: [{ kind: 'text', text: 'Hello.' }], status: 'complete' },
        ...{ error: null, usage: null, clientId: null, replaces: null, waiting: false },
      });
    // The letters are loaded after the page is painted.
    await waitFor(async () => {
      await writes();
      expect(letters()).toBeGreaterThan(0);
    });
    const before = letters();
    const plain = window.matchMedia;
    window.matchMedia = (query) => Object.assign(plain(query), { matches: /reduced-motion/.test(query) });
    await writes();
    expect(letters()).toBe(before);
    window.matchMedia = plain;
    await writes();
    expect(letters()).toBe(before + 1);
    // One goes when it is written, and none when the other agent reads it.
    await page.hear({
      kind: 'answer-started',
      time: NOW,
      messageId: 'answer',
      sessionId: 'session-2',
      agentId: 'agent-1',
    });
    const call = {
      kind: 'tool',
      toolUseId: 'call',
      name: 'message_agent',
      input: { to: NAMES[1] },
      isError: false,
    } as const;
    await page.hear({ kind: 'tool', messageId: 'answer', block: { ...call, result: null } });
    expect(letters()).toBe(before + 1);
    await page.hear({ kind: 'tool', messageId: 'answer', block: { ...call, result: 'Delivered.' } });
    expect(letters()).toBe(before + 2);
    await writes();
    expect(letters()).toBe(before + 2);
  } finally {
    animate.mockRestore();
  }
});
