/**
 * Moves agents between seats in the grid: by dragging with a mouse, by a long press and dragging
 * with a finger, or by Alt and an arrow key on a focused seat. Loaded after the page is painted. It
 * works outside of React, so dragging renders nothing.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isSeatPosition, LEAD_POSITION, type Position, type SeatPosition } from '../../../shared/domain/seat.ts';
import { isHatching, moveToSeat } from '../../state/groups.ts';
import type { RoostState } from '../../state/index.ts';
import { neighbour, POSITIONS } from './seat-figure.tsx';
import { keyOf } from '../design/keys.ts';

const DRAG = {
  /** px that a mouse moves before it drags. Less is a click. */
  from: 6,
  /**
   * ms of a long press that lifts an agent; shorter than the one with which a browser opens a menu.
   */
  hold: 350,
  /** px that the finger may move meanwhile. More is scrolling. */
  slip: 10,
} as const;

interface Drag {
  readonly agentId: AgentId;
  readonly from: SeatPosition;
  readonly cell: HTMLElement;
  readonly pointerId: number;
  readonly touch: boolean;
  readonly x: number;
  readonly y: number;
  lifted: boolean;
  moved: boolean;
  over: SeatPosition | null;
}

/** The seat that an arrow key leads to, skipping the lead's; the same seat at the edge. */
function seatBeside(position: SeatPosition, key: string): SeatPosition {
  const next = neighbour(position, key);
  const beyond: Position = next === LEAD_POSITION ? neighbour(next, key) : next;
  return isSeatPosition(beyond) ? beyond : position;
}

/** `list`: the grid, with a child for each position. Returns a function that stops it. */
export function watchSeatMoves(list: HTMLElement, roost: RoostState): () => void {
  let drag: Drag | null = null;
  let holdTimer: ReturnType<typeof setTimeout> | undefined;

  const cellAt = (position: Position) => {
    const cell = list.children[position];
    return cell instanceof HTMLElement ? cell : null;
  };
  const positionOf = (target: EventTarget | null): SeatPosition | null => {
    const cell = target instanceof Element ? target.closest('.seat') : null;
    const position = POSITIONS.find((each) => cell !== null && cellAt(each) === cell);
    return isSeatPosition(position) ? position : null;
  };
  const sitterOf = (position: SeatPosition) => roost.household.store.getState().roster.seats.get(position);
  const mark = (position: SeatPosition | null, name: string) => {
    for (const each of POSITIONS) cellAt(each)?.toggleAttribute(name, each === position);
  };

  function lift(): void {
    if (!drag) return;
    drag.lifted = true;
    mark(drag.from, 'data-lifted');
    list.toggleAttribute('data-moving', true);
  }

  function end(): void {
    clearTimeout(holdTimer);
    if (!drag) return;
    drag.cell.style.translate = '';
    mark(null, 'data-lifted');
    mark(null, 'data-over');
    list.toggleAttribute('data-moving', false);
    drag = null;
  }

  const down = (event: PointerEvent) => {
    const position = positionOf(event.target);
    const agent = position === null ? undefined : sitterOf(position);
    const onSeat = event.target instanceof Element && event.target.closest('.seat-button') !== null;
    const cell = position === null ? null : cellAt(position);
    end();
    if (event.button !== 0 || !event.isPrimary || !onSeat || position === null || !agent || !cell) return;
    const { pointerId, clientX: x, clientY: y } = event;
    const touch = event.pointerType === 'touch';
    const { agentId } = agent;
    drag = { agentId, from: position, cell, pointerId, touch, x, y, lifted: false, moved: false, over: null };
    if (touch) holdTimer = setTimeout(lift, DRAG.hold);
  };
  const move = (event: PointerEvent) => {
    if (!drag || event.pointerId !== drag.pointerId) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    const far = Math.hypot(dx, dy);
    if (!drag.lifted) {
      if (drag.touch && far > DRAG.slip) return end();
      if (drag.touch || far < DRAG.from) return;
      lift();
    }
    if (far >= DRAG.from) drag.moved = true;
    drag.cell.style.translate = `${dx}px ${dy}px`;
    const over = positionOf(document.elementFromPoint(event.clientX, event.clientY));
    drag.over = over === null || over === drag.from || isHatching(roost, over) ? null : over;
    mark(drag.over, 'data-over');
  };
  const up = (event: PointerEvent) => {
    if (!drag || event.pointerId !== drag.pointerId) return;
    const { agentId, lifted, moved, over, touch, cell } = drag;
    end();
    if (!lifted) return;
    // The click that follows a drag must not reach the seat.
    const swallow = (click: Event) => {
      click.preventDefault();
      click.stopPropagation();
    };
    addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, { capture: true }));
    if (over !== null) void moveToSeat(roost, agentId, over);
    // A long press without dragging opens the menu, as elsewhere.
    else if (touch && !moved) openMenu(cell);
  };
  const openMenu = (cell: HTMLElement) =>
    cell
      .querySelector('.seat-button')
      ?.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }));
  /** The browser's own long press: the lifted agent is dropped first. */
  const menu = (event: Event) => {
    if (drag?.touch !== true || !event.isTrusted) return;
    event.preventDefault();
    event.stopPropagation();
  };
  /** The page must not scroll under the dragging finger. */
  const touchMove = (event: TouchEvent) => {
    if (drag?.lifted === true) event.preventDefault();
  };
  const key = (event: KeyboardEvent) => {
    if (keyOf(event) === 'Escape' && drag?.lifted === true) {
      event.preventDefault();
      event.stopPropagation();
      end();
    }
  };
  /** The moved agent keeps the focus, in its new seat. */
  const arrow = async (event: KeyboardEvent) => {
    const key = keyOf(event);
    if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !key.startsWith('Arrow')) return;
    const from = positionOf(event.target);
    if (from === null) return;
    event.preventDefault();
    const agent = sitterOf(from);
    const to = seatBeside(from, key);
    if (agent && to !== from && (await moveToSeat(roost, agent.agentId, to)))
      cellAt(to)?.querySelector<HTMLElement>('.seat-button')?.focus();
  };
  const onArrow = (event: KeyboardEvent) => void arrow(event);

  list.addEventListener('pointerdown', down);
  list.addEventListener('keydown', onArrow);
  list.addEventListener('contextmenu', menu, { capture: true });
  list.addEventListener('touchmove', touchMove, { passive: false });
  addEventListener('pointermove', move);
  addEventListener('pointerup', up);
  addEventListener('pointercancel', end);
  addEventListener('keydown', key, { capture: true });
  return () => {
    end();
    list.removeEventListener('pointerdown', down);
    list.removeEventListener('keydown', onArrow);
    list.removeEventListener('contextmenu', menu, { capture: true });
    list.removeEventListener('touchmove', touchMove);
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', up);
    removeEventListener('pointercancel', end);
    removeEventListener('keydown', key, { capture: true });
  };
}
