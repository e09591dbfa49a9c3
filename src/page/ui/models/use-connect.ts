import { useState } from 'react';
import type { Connection, ConnectModel, ListedModel } from '../../../shared/protocol/models.ts';
import { useRoost } from '../context.tsx';

export type Trying =
  | { readonly kind: 'idle' }
  /** What is being tried, in words. */
  | { readonly kind: 'trying'; readonly what: string }
  | { readonly kind: 'failed'; readonly text: string }
  /** Nothing was asked yet. */
  | { readonly kind: 'choose'; readonly given: ConnectModel; readonly models: readonly ListedModel[] }
  | { readonly kind: 'done'; readonly connection: Connection };

/** Connects what is given, and says how that goes. */
export function useConnect() {
  const { models } = useRoost();
  const [trying, setTrying] = useState<Trying>({ kind: 'idle' });
  const connect = async (given: ConnectModel, what: string): Promise<boolean> => {
    setTrying({ kind: 'trying', what });
    const result = await models.change((client) => client.connectModel({ body: given }));
    if (!result.ok) {
      setTrying(
        result.models.length > 0
          ? { kind: 'choose', given, models: result.models }
          : { kind: 'failed', text: result.reason },
      );
      return false;
    }
    setTrying({ kind: 'done', connection: result.value });
    return true;
  };
  return { trying, connect };
}

export type Connect = ReturnType<typeof useConnect>['connect'];
