/** Short notes to the person. Errors and offers stay until dismissed; the rest go by themselves. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Device } from './ports.ts';

export interface Notice {
  readonly id: string;
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

export interface Notices {
  readonly store: StoreApi<{ readonly list: readonly Notice[] }>;
  info(text: string, action?: Notice['action']): void;
  /** Good at any time: it stays until it is taken or dismissed. */
  offer(text: string, action: NonNullable<Notice['action']>): void;
  error(text: string, action?: Notice['action']): void;
  dismiss(id: string): void;
}

/** ms an informing note stays; one that can be acted on takes longer to decide about. */
const STAY_MS = 6_000;
const STAY_WITH_ACTION_MS = 15_000;

export function createNotices(device: Pick<Device, 'newId' | 'after'>): Notices {
  const store = createStore<{ readonly list: readonly Notice[] }>()(() => ({ list: [] }));
  const dismiss = (id: string) => store.setState(({ list }) => ({ list: list.filter((notice) => notice.id !== id) }));
  const add = (tone: Notice['tone'], text: string, action: Notice['action'], stayMs = Infinity) => {
    const id = device.newId();
    store.setState(({ list }) => ({ list: [...list.filter((notice) => notice.text !== text), { id, tone, text, action }] }));
    if (Number.isFinite(stayMs)) device.after(stayMs, () => dismiss(id));
  };
  return {
    store,
    info: (text, action = null) => add('info', text, action, action ? STAY_WITH_ACTION_MS : STAY_MS),
    offer: (text, action) => add('info', text, action),
    error: (text, action = null) => add('error', text, action),
    dismiss,
  };
}
