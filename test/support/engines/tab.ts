/**
 * One page of a real browser, whichever engine runs it: what a person does at it, and what they
 * read. Three drivers stand behind it (`chromium.ts`, `firefox.ts`, `webkit.ts`); each finds
 * elements by the same script, by role and accessible name, and presses them with real events of
 * its own.
 */

export type Role = 'button' | 'link' | 'textbox' | 'checkbox' | 'menuitem' | 'file';

/** A text must be the whole name; of a textbox, its beginning. */
export interface Wanted {
  readonly role: Role;
  readonly name?: string | RegExp;
}
/** As it goes into the page. */
export interface Sought {
  readonly role: Role;
  readonly name: string | null;
  readonly pattern: { readonly source: string; readonly flags: string } | null;
}
export const soughtOf = ({ role, name }: Wanted): Sought =>
  name instanceof RegExp
    ? { role, name: null, pattern: { source: name.source, flags: name.flags } }
    : { role, name: name ?? null, pattern: null };
export const textOf = ({ role, name }: Wanted): string => `${role} ${name === undefined ? '' : String(name)}`;

export type Key = 'Enter' | 'Escape' | 'ArrowDown' | 'Tab';

/** `source`: of a function. JSON goes in and comes out. */
export interface Driver {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  evaluate(source: string, args: readonly unknown[]): Promise<unknown>;
  /** Does it with the element that `FIND` gives; false where there is none. */
  click(sought: Sought): Promise<boolean>;
  /** Empties a field and types. */
  fill(sought: Sought, text: string): Promise<boolean>;
  choose(sought: Sought, path: string): Promise<boolean>;
  press(key: Key): Promise<void>;
  /** A PNG of what is to be seen. */
  picture(): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface RealBrowser {
  /** A tab of the one profile. */
  newTab(): Promise<Tab>;
  /**
   * Further browsers that know nothing of this one, each in a profile of its own, closed with it.
   */
  another(): Promise<RealBrowser>;
  close(): Promise<void>;
}

export interface Tab {
  readonly driver: Driver;
  /** What the page threw or wrote to its console as an error, and what its policy had to forbid. */
  complaints(): Promise<readonly string[]>;
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  evaluate<Args extends readonly unknown[], Value>(
    run: (...args: Args) => Value | Promise<Value>,
    ...args: Args
  ): Promise<Value>;
  /** Waits until it can be done. */
  click(wanted: Wanted): Promise<void>;
  fill(wanted: Wanted, text: string): Promise<void>;
  choose(wanted: Wanted, path: string): Promise<void>;
  press(key: Key): Promise<void>;
  /** Everything that can be read. */
  text(): Promise<string>;
  untilText(what: string | RegExp): Promise<void>;
  /**
   * Hands a push to the page's service worker, as its push service does, and lets it show what it
   * wants. Where the engine lets nobody, it is not there.
   */
  push?(text: string): Promise<void>;
  close(): Promise<void>;
}

/** ms a person would wait for anything here before calling it broken. */
export const PATIENCE = 60_000;
/** ms between two looks: each is a call through a driver, and a page laid out anew. */
const BETWEEN = 100;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits until `probe` gives something; fails with `otherwise`. */
export async function until<Value>(
  probe: () => Promise<Value | null | false>,
  otherwise: () => string | Promise<string>,
): Promise<Value> {
  for (const end = Date.now() + PATIENCE; ; await pause(BETWEEN)) {
    const value = await probe();
    if (value !== null && value !== false) return value;
    if (Date.now() > end) throw new Error(await otherwise());
  }
}

/**
 * The source of a function that gives the element a person means; the last one where there are
 * several dialogs.
 */
export const FIND = String(function find(sought: Sought): Element | null {
  const SELECTORS: Record<Role, string> = {
    button: 'button:not([role]), [role=button], summary',
    link: 'a[href]',
    textbox: 'textarea, input:not([type]), input[type=text], input[type=password], input[type=search]',
    checkbox: 'input[type=checkbox]',
    menuitem: '[role=menuitem]',
    file: 'input[type=file]',
  };
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim();
  const nameOf = (element: Element) => {
    const by = (element.getAttribute('aria-labelledby') ?? '').split(' ').filter(Boolean);
    if (by.length > 0) return plain(by.map((id) => document.getElementById(id)?.textContent).join(' '));
    const label = element.getAttribute('aria-label');
    if (label !== null) return plain(label);
    const labels = 'labels' in element ? (element.labels as NodeListOf<HTMLLabelElement> | null) : null;
    return plain(labels?.[0]?.textContent ?? element.textContent);
  };
  const isShown = (element: Element) =>
    element.getClientRects().length > 0 &&
    getComputedStyle(element).visibility !== 'hidden' &&
    !element.closest('[inert]');
  const pattern = sought.pattern && new RegExp(sought.pattern.source, sought.pattern.flags);
  const fits = (name: string) => {
    if (pattern) return pattern.test(name);
    return sought.name === null || (sought.role === 'textbox' ? name.startsWith(sought.name) : name === sought.name);
  };
  // An open dialog keeps what is behind it from the pointer.
  const dialogs = [...document.querySelectorAll('dialog[open], [role=dialog]')];
  const within = dialogs.at(-1) ?? document;
  const found = [...within.querySelectorAll(SELECTORS[sought.role])].filter(
    (element) => (sought.role === 'file' || isShown(element)) && fits(nameOf(element)),
  );
  return found[0] ?? null;
});

/** Hears in the page itself; `complaints` of the driver are what only the driver hears. */
const LISTEN = String(function listen() {
  const page = window as Window & { complaints?: string[] };
  if (page.complaints) return;
  const said: string[] = (page.complaints = []);
  const write = console.error.bind(console);
  console.error = (...args: unknown[]) => {
    said.push(args.map(String).join(' '));
    write(...args);
  };
  // Told of by browsers as an error, and none: what was measured last is measured in the next
  // frame.
  const isPutOff = (message: string) => message.startsWith('ResizeObserver loop');
  addEventListener('error', (event) => void (isPutOff(event.message) || said.push(`threw: ${event.message}`)));
  addEventListener('unhandledrejection', (event) => said.push(`rejected: ${String(event.reason)}`));
  document.addEventListener('securitypolicyviolation', (event) =>
    said.push(`forbidden: ${event.violatedDirective} ${event.blockedURI}`),
  );
});
/** For drivers that can run something before the page does. */
export const LISTENING = `(${LISTEN})()`;

/** The rest is the same everywhere. `heard`: what the driver itself was told of. */
export function createTab(driver: Driver, heard: readonly string[] = []): Tab {
  const told: string[] = [];
  const gather = async () => {
    told.push(...((await driver.evaluate('() => (window.complaints ?? []).splice(0)', [])) as string[]));
  };
  const arrived = () => driver.evaluate(LISTEN, []);
  const done = (what: string, wanted: Wanted, act: () => Promise<boolean>) =>
    until(
      act,
      async () => `there is no ${textOf(wanted)} to ${what}; the page says: ${(await tab.text()).slice(0, 600)}`,
    ).then(() => undefined);

  const tab: Tab = {
    driver,
    async complaints() {
      await gather();
      return [...heard, ...told];
    },
    async goto(url) {
      await driver.goto(url);
      // The relay's own page after the link leads on by itself; while it does, nothing can be
      // asked.
      const path = () => driver.evaluate('() => location.pathname', []).catch(() => '/enter');
      await until(
        async () => !String(await path()).startsWith('/enter'),
        () => 'the link leads nowhere',
      );
      await until(
        () => driver.evaluate("() => document.readyState === 'complete'", []).then(Boolean, () => false),
        () => 'the page does not load',
      );
      await arrived();
    },
    async reload() {
      await gather();
      await driver.reload();
      await arrived();
    },
    async evaluate(run, ...args) {
      // What comes back is what `run` gave, as JSON.
      return (await driver.evaluate(String(run), args)) as Awaited<ReturnType<typeof run>>;
    },
    click: (wanted) => done('press', wanted, () => driver.click(soughtOf(wanted))),
    fill: (wanted, text) => done('write in', wanted, () => driver.fill(soughtOf(wanted), text)),
    choose: (wanted, path) => done('give a file', wanted, () => driver.choose(soughtOf(wanted), path)),
    press: (key) => driver.press(key),
    text: async () => String(await driver.evaluate('() => document.body.innerText', [])),
    async untilText(what) {
      const holds = (text: string) => (typeof what === 'string' ? text.includes(what) : what.test(text));
      await until(
        async () => holds(await tab.text()),
        async () => `waited for ${String(what)}; the page says: ${(await tab.text()).slice(0, 1_500)}`,
      );
    },
    close: () => driver.close(),
  };
  return tab;
}
