/**
 * One of a household's browsers over many sessions: open at the page, closed, or killed, as a
 * laptop is.
 */
import { createProfile, QUIET } from '../support/chromium.ts';
import { deviceOf, type DeviceBrowser } from '../support/devices.ts';
import { letIn, type SignIn } from '../support/sign-in.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1280, height: 800 };

export interface LifeDevice {
  readonly name: string;
  /** Throws while it is closed. */
  visitor(): Visitor;
  browser(): DeviceBrowser;
  open(): Promise<void>;
  /** Closes the page, once what it has heard is sealed and with the relay. */
  close(): Promise<void>;
  /** Ends the browser as a crash would. */
  kill(): Promise<void>;
  remove(): Promise<void>;
}

/** `signIn`: the household's, at the relay of this address. */
export async function createLifeDevice(name: string, url: string, signIn: SignIn): Promise<LifeDevice> {
  const profile = await createProfile();
  let opened: { readonly visitor: Visitor; readonly browser: DeviceBrowser } | null = null;
  const here = () => {
    if (!opened) throw new Error(`${name} is closed`);
    return opened;
  };
  const device: LifeDevice = {
    name,
    visitor: () => here().visitor,
    browser: () => here().browser,
    async open() {
      if (opened) {
        await opened.visitor.page.goto(url);
        return;
      }
      const context = await profile.open({ viewport: DESK, ...QUIET });
      await letIn(context, url, signIn);
      const visitor = await createVisitor(context, url);
      opened = { visitor, browser: deviceOf(profile, context, visitor.page) };
    },
    async close() {
      const { visitor, browser } = here();
      // What it heard a moment ago may not be in its outbox yet.
      if (!(await browser.owner.call('received')).stored) throw new Error(`${name} cannot store what it heard`);
      await browser.until('everything being with the relay', ({ link, toSend }) => link === 'live' && toSend === 0);
      // Nothing of the page is left, nor of its owner.
      await visitor.page.goto('about:blank');
    },
    async kill() {
      opened = null;
      await profile.kill();
    },
    remove: () => profile.remove(),
  };
  return device;
}
