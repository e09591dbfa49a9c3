/** What every answer tells the browser: load nothing from elsewhere, be shown in nobody's frame. */
import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';

export const securityHeaders = () =>
  secureHeaders({
    // The relay's own pages bring a policy of their own, stricter still.
    overwrite: false,
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      workerSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      styleSrc: ["'self'"],
      fontSrc: ["'self'"],
      manifestSrc: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // See below.
    strictTransportSecurity: false,
    // The camera reads the code that another device shows; it is asked for then, and only this page
    // may.
    permissionsPolicy: { camera: ['self'], microphone: ['self'], geolocation: [], payment: [], usb: [] },
  });

/** s */
const HSTS = 'max-age=31536000';

/**
 * Tells browsers to come by TLS only, under this one name. It binds every port of the name, for a
 * year: so only a name that is served by our own TLS at the usual port, and never `localhost`.
 * Behind a proxy it is the proxy's to say.
 */
export const onlyByTls =
  (name: string): MiddlewareHandler =>
  async (context, next) => {
    await next();
    if (context.req.header('host')?.toLowerCase() === name) context.header('strict-transport-security', HSTS);
  };
