/** Renders diagrams outside the page's thread. The page terminates it when it takes too long. */
import './not-elks-worker.ts';
import { drawn, type DrawingColours } from './drawing.ts';

addEventListener('message', ({ data }: MessageEvent<{ mermaid: string; colours: DrawingColours }>) =>
  postMessage(drawn(data.mermaid, data.colours)),
);
