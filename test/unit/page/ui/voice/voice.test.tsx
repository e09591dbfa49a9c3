/** Reading aloud and dictation, against a browser's speech that the test plays. */
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNotices } from '../../../../../src/page/state/notices.ts';
import { DictateButton } from '../../../../../src/page/ui/voice/dictate-button.tsx';
import { chooseVoice, readAloud } from '../../../../../src/page/ui/voice/read-aloud.ts';
import { piecesToSay, voiceOf, wordsToSay } from '../../../../../src/page/ui/voice/words.ts';
import { testDevice } from '../../support/fakes.ts';

describe('what is read aloud', () => {
  it.each([
    ['## Plan\n\n- *one* and **two**\n- `three`', 'Plan\none and two\nthree'],
    ['Look: [the page](https://example.org/a?b) or <https://example.org/x/y>.', 'Look: the page or example.org.'],
    ['Run\n\n```sh\nrm -rf /\n```\nand wait.', 'Run\n(code)\nand wait.'],
    ['Unfinished\n\n```\nlet x', 'Unfinished\n(code)'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'a, b\n1, 2'],
    ['> He said so\n\n1. first', 'He said so\nfirst'],
    ['It is $$x^2$$, and 2*3*4 stays.', 'It is (formula), and 2*3*4 stays.'],
  ])('is %j without its signs', (markdown, words) => {
    expect(wordsToSay(markdown)).toBe(words);
  });

  it('comes in sentences that a voice takes at once, and loses no word', () => {
    const text = `${'A sentence of some words. '.repeat(30)}${'endless'.repeat(80)}`;
    const pieces = piecesToSay(text, 100);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(100);
    expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
  });

  it('uses for each agent the same voice of its language, on this device when possible', () => {
    const voices = [
      { voiceURI: 'far', lang: 'en-US', localService: false },
      { voiceURI: 'near', lang: 'en-GB', localService: true },
      { voiceURI: 'anna', lang: 'de-DE', localService: true },
    ];
    const about = { voices, language: 'en', chosen: null };
    expect(voiceOf('lyra', about).voice?.voiceURI).toBe('near');
    expect(voiceOf('lyra', about)).toEqual(voiceOf('lyra', about));
    expect(
      new Set(['lyra', 'wren', 'sable', 'osier', 'pell'].map((who) => voiceOf(who, about).pitch)).size,
    ).toBeGreaterThan(1);
    expect(voiceOf('lyra', { ...about, chosen: 'anna' }).voice?.voiceURI).toBe('anna');
    expect(voiceOf('lyra', { ...about, chosen: 'gone' }).voice?.voiceURI).toBe('near');
    expect(voiceOf('lyra', { ...about, language: 'fr' }).voice).toBeNull();
  });
});

function createTestState() {
  const device = testDevice(0);
  return { device, notices: createNotices(device) };
}

class Utterance extends EventTarget {
  voice: unknown = null;
  lang = '';
  pitch = 1;
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
}
class Speech extends EventTarget {
  voices = [{ voiceURI: 'near', lang: 'en-GB', localService: true }];
  said: Utterance[] = [];
  getVoices = () => this.voices;
  speak = (utterance: Utterance) => void this.said.push(utterance);
  cancel = () => this.end('error', 'canceled');
  end(type: 'end' | 'error', error = '') {
    this.said.at(-1)?.dispatchEvent(Object.assign(new Event(type), { error }));
  }
}

describe('reading aloud', () => {
  let speech: Speech;
  beforeEach(() => {
    speech = new Speech();
    vi.stubGlobal('speechSynthesis', speech);
    vi.stubGlobal('SpeechSynthesisUtterance', Utterance);
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });
  const texts = (state: ReturnType<typeof createTestState>) =>
    state.notices.store.getState().list.map(({ text }) => text);

  it('says one piece after the other, and is over by itself', async () => {
    const state = createTestState();
    const reading = readAloud(state, 'lyra', 'Lyra', `${'A sentence of some words. '.repeat(12)}`);
    await vi.waitFor(() => expect(speech.said.length).toBe(1));
    expect(texts(state)).toEqual(['Reading aloud: Lyra']);
    speech.end('end');
    await vi.waitFor(() => expect(speech.said.length).toBe(2));
    speech.end('end');
    await reading;
    expect(texts(state)).toEqual([]);
  });

  it('ends at once by its button, by Escape, which closes nothing else, and where another is read', async () => {
    const state = createTestState();
    const pressed = vi.fn();
    document.body.addEventListener('keydown', pressed);
    for (const end of [
      () => state.notices.store.getState().list[0]?.action?.run(),
      () => fireEvent.keyDown(document.body, { key: 'Escape' }),
    ]) {
      const reading = readAloud(state, 'lyra', 'Lyra', 'Hello.');
      await vi.waitFor(() => expect(texts(state)).toEqual(['Reading aloud: Lyra']));
      await vi.waitFor(() => expect(speech.said.at(-1)?.text).toBe('Hello.'));
      end();
      await reading;
      expect(texts(state)).toEqual([]);
      speech.said = [];
    }
    expect(pressed).not.toHaveBeenCalled();
    fireEvent.keyDown(document.body, { key: 'Escape' });
    expect(pressed).toHaveBeenCalledTimes(1);
    const first = readAloud(state, 'lyra', 'Lyra', 'Hello.');
    await vi.waitFor(() => expect(speech.said.length).toBe(1));
    void readAloud(state, 'wren', 'Wren', 'Good evening.');
    await first;
    await vi.waitFor(() => expect(texts(state)).toEqual(['Reading aloud: Wren']));
    state.notices.store.getState().list[0]?.action?.run();
  });

  it('says why reading aloud fails: no voice, or an error', async () => {
    const state = createTestState();
    const reading = readAloud(state, 'lyra', 'Lyra', 'Hello.');
    await vi.waitFor(() => expect(speech.said.length).toBe(1));
    speech.end('error', 'network');
    await reading;
    expect(texts(state)).toEqual(['Could not read this aloud. network']);
    speech.voices = [];
    const none = readAloud(state, 'lyra', 'Lyra', 'Hello.');
    speech.dispatchEvent(new Event('voiceschanged'));
    await none;
    expect(texts(state).at(-1)).toMatch(/^This browser cannot read aloud/);
  });

  it('uses the voice that was chosen for an agent on this device', async () => {
    const state = createTestState();
    speech.voices = ['one', 'two', 'three', 'four'].map((voiceURI) => ({
      voiceURI,
      lang: 'en-GB',
      localService: true,
    }));
    for (const { voiceURI } of speech.voices) {
      chooseVoice(state, 'lyra', voiceURI);
      void readAloud(state, 'lyra', 'Lyra', 'Hello.');
      await vi.waitFor(() => expect(speech.said.at(-1)?.voice).toMatchObject({ voiceURI }));
    }
    state.notices.store.getState().list[0]?.action?.run();
  });
});

describe('dictation', () => {
  class Recognizer extends EventTarget {
    static last: Recognizer;
    calls: string[] = [];
    constructor() {
      super();
      Recognizer.last = this;
    }
    start = () => void this.calls.push('start');
    stop = () => (this.calls.push('stop'), this.send('end', {}));
    abort = () => void this.calls.push('abort');
    send = (type: string, about: object) => act(() => void this.dispatchEvent(Object.assign(new Event(type), about)));
    hear = (transcript: string, isFinal: boolean) =>
      this.send('result', { resultIndex: 0, results: [{ isFinal, 0: { transcript } }] });
  }
  beforeEach(() => {
    localStorage.clear();
    vi.stubGlobal('webkitSpeechRecognition', Recognizer);
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });
  const show = () => {
    const { device } = createTestState();
    const heard: string[] = [];
    const view = () => <DictateButton browser={device.browser} onHeard={(text) => heard.push(text)} />;
    return { heard, view, ...render(view()) };
  };
  const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));

  it('says where the sound goes before it listens for the first time, and not again on this device', () => {
    const { heard, unmount, view } = show();
    press('Dictate');
    expect(screen.getByRole('status').textContent).toMatch(/sends the sound to Google/);
    press('Begin');
    expect(Recognizer.last.calls).toEqual(['start']);
    Recognizer.last.hear('hello th', false);
    expect(screen.getByRole('status').textContent).toBe('hello th');
    expect(heard).toEqual([]);
    Recognizer.last.hear('hello there', true);
    expect(heard).toEqual(['hello there']);
    press('Stop listening');
    expect(screen.queryByRole('status')).toBeNull();
    unmount();
    render(view());
    press('Dictate');
    expect(Recognizer.last.calls).toEqual(['start']);
    fireEvent.keyDown(screen.getByRole('button', { name: 'Stop listening' }), { key: 'Escape' });
    expect(Recognizer.last.calls).toEqual(['start', 'stop']);
  });

  it('says why it hears nothing, and lets the microphone go where the field goes', () => {
    const { unmount } = show();
    press('Dictate');
    press('Begin');
    Recognizer.last.send('error', { error: 'not-allowed' });
    Recognizer.last.send('end', {});
    expect(screen.getByRole('status').textContent).toMatch(/microphone is not allowed/);
    press('Dictate');
    expect(screen.queryByRole('status')).toBeNull();
    unmount();
    expect(Recognizer.last.calls).toEqual(['start', 'abort']);
  });
});
