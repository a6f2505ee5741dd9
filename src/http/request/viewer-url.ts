// The URL of a viewer's request, which some proxies append to that of forward authentication.

export const FORWARD_AUTH_PATH = '/v1/forward-auth';

/** Everything below it is the URL of the viewer: Envoy appends path and query to its `path_prefix`. */
export const BELOW_FORWARD_AUTH = `${FORWARD_AUTH_PATH}/`;

/** The URL for the router, which must see nothing that a viewer chose: neither an odd path nor a parameter. */
export function withoutViewerUrl({ url = '' }: { url?: string | undefined }): string {
  return url.startsWith(BELOW_FORWARD_AUTH) ? BELOW_FORWARD_AUTH : url;
}

/** In a query, everything from this parameter on is the URL of the viewer. */
export const VIEWER_URL_PARAMETER = 'uri';

const VIEWER_URL = new RegExp(`[?&]${VIEWER_URL_PARAMETER}=.*`, 's');

/** Parameters of the proxy come first, so the viewer can neither replace nor repeat one. */
export function withoutViewerQuery(url: string): string {
  return url.replace(VIEWER_URL, '');
}
