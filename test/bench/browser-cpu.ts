/** The processor's time of a browser, with all of its processes. */
import type { BrowserContext } from 'playwright-core';

/** `seconds`: of the processor, since the browser began. */
export async function openBrowserCpu(
  context: BrowserContext,
): Promise<{ readonly seconds: () => Promise<number>; readonly close: () => Promise<void> }> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The context has no browser of its own.');
  return {
    async seconds() {
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    },
    close: () => session.detach(),
  };
}
