/** Short notes to the person. Errors stay until dismissed; the rest go by themselves. */
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
  error(text: string, action?: Notice['action']): void;
  dismiss(id: string): void;
}

/** ms an informing note stays. */
const STAY_MS = 6000;

export function createNotices(device: Pick<Device, 'newId' | 'after'>): Notices {
  const store = createStore<{ readonly list: readonly Notice[] }>()(() => ({ list: [] }));
  const dismiss = (id: string) => store.setState(({ list }) => ({ list: list.filter((notice) => notice.id !== id) }));
  const add = (tone: Notice['tone'], text: string, action: Notice['action']) => {
    const id = device.newId();
    store.setState(({ list }) => ({ list: [...list.filter((notice) => notice.text !== text), { id, tone, text, action }] }));
    if (tone === 'info') device.after(STAY_MS, () => dismiss(id));
  };
  return {
    store,
    info: (text, action = null) => add('info', text, action),
    error: (text, action = null) => add('error', text, action),
    dismiss,
  };
}
