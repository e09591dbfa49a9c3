import 'react';

declare module 'react' {
  interface CSSProperties {
    /** Custom properties that style sheets of this page read. */
    [property: `--${string}`]: string | number;
  }
}
