/** Calls under way over one connection. Each stays until its reply arrives. */
import type { ArgsOf, Call, CallOf, Methods, OutOf, Reply } from './method.ts';

export interface Calls<Table extends Methods> {
  /**
   * Rejects with an Error that has the name, kind and message of the server's error. The message is
   * for people.
   */
  readonly call: CallOf<Table>;
  take(reply: Reply): void;
  /** Sends every unanswered call once more, with its id. */
  repeat(): void;
  count(): number;
}

export interface CallsDeps<Name extends string> {
  readonly newId: () => string;
  readonly send: (message: Call<Name>) => void;
}

export function createCalls<Table extends Methods>({ newId, send }: CallsDeps<keyof Table & string>): Calls<Table> {
  const underWay = new Map<
    string,
    {
      readonly message: Call<keyof Table & string>;
      readonly resolve: (value: unknown) => void;
      readonly reject: (error: Error) => void;
    }
  >();
  return {
    call<Name extends keyof Table & string>(name: Name, ...args: ArgsOf<Table, Name>) {
      type Out = OutOf<Table, Name>;
      return new Promise<Out>((resolve, reject) => {
        const message = { call: name, id: newId(), args };
        // One table types both ends, so the reply to `name` has its type.
        underWay.set(message.id, { message, resolve: (value) => resolve(value as Out), reject });
        send(message);
      });
    },
    take(message) {
      const call = underWay.get(message.reply);
      underWay.delete(message.reply);
      if (message.ok) call?.resolve(message.value);
      else {
        const { message: text, ...named } = message.error;
        call?.reject(Object.assign(new Error(text), named));
      }
    },
    repeat() {
      for (const { message } of underWay.values()) send(message);
    },
    count: () => underWay.size,
  };
}
