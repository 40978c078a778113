/**
 * Every API error: one entry per code. Clients branch on the code only, so its meaning never changes. `npm run generate`
 * writes docs/reference/errors.md from this table, and the server serves a page for each code at /docs/errors/{code}.
 */
export interface ErrorEntry {
  readonly status: number;
  readonly title: Texts;
  /** What happened: also the problem's `detail`. */
  readonly cause: Texts;
  readonly remedy: Texts;
  /** Whether repeating the identical request can help. */
  readonly retry: 'safe' | 'after_change' | 'never';
}

interface Texts {
  readonly en: string;
  readonly es: string;
}

export type Language = keyof Texts;

export const ERRORS = {
  invalid_request: {
    status: 400,
    title: { en: 'Invalid request', es: 'Solicitud inválida' },
    cause: {
      en: 'Some of the data sent is missing or not valid. `errors` names each field.',
      es: 'Faltan datos o algunos no son válidos. `errors` indica cada campo.',
    },
    remedy: {
      en: 'Correct the fields named in `errors` and send the request again. Nothing was created.',
      es: 'Corrija los campos indicados en `errors` y envíe la solicitud de nuevo. No se creó nada.',
    },
    retry: 'after_change',
  },
  unknown_field: {
    status: 400,
    title: { en: 'Unknown field', es: 'Campo desconocido' },
    cause: {
      en: 'The request carries a field or query parameter that this operation does not have. It may be a misspelled name, so the request is rejected instead of ignoring the field.',
      es: 'La solicitud trae un campo o parámetro que esta operación no tiene. Puede ser otro mal escrito, por eso se rechaza en vez de ignorarse.',
    },
    remedy: {
      en: 'Remove or rename what `errors` names. Nothing was done.',
      es: 'Quite o corrija lo indicado en `errors`. No se hizo nada.',
    },
    retry: 'after_change',
  },
  malformed_json: {
    status: 400,
    title: { en: 'Malformed JSON', es: 'JSON mal formado' },
    cause: {
      en: 'The body is not valid JSON, or an object in it has two members with the same name.',
      es: 'El cuerpo no es un JSON válido, o un objeto en él tiene dos campos con el mismo nombre.',
    },
    remedy: {
      en: 'Send a JSON object in UTF-8 with `Content-Type: application/json`.',
      es: 'Envíe un objeto JSON en UTF-8 con `Content-Type: application/json`.',
    },
    retry: 'after_change',
  },
  malformed_request: {
    status: 400,
    title: { en: 'Malformed request', es: 'Solicitud mal formada' },
    cause: {
      en: 'What arrived is not a well-formed HTTP request, its headers are too large, or its path is not written in the normal way (`//`, `/../`, encoded letters).',
      es: 'Lo que llegó no es una solicitud HTTP bien formada, sus encabezados son demasiado grandes, o su ruta no está escrita de la forma normal (`//`, `/../`, letras codificadas).',
    },
    remedy: {
      en: 'Check the client or the proxy in between: the request was not understood, nothing was done.',
      es: 'Revise el cliente o el proxy intermedio: la solicitud no se entendió y no se hizo nada.',
    },
    retry: 'after_change',
  },
  rail_not_enabled: {
    status: 400,
    title: { en: 'Rail not enabled', es: 'Medio de pago no habilitado' },
    cause: {
      en: 'The rail is not enabled for this organization.',
      es: 'El medio de pago no está habilitado para esta organización.',
    },
    remedy: {
      en: 'Use an enabled rail, or ask the operator of this service to enable it.',
      es: 'Use un medio habilitado o pida al operador del servicio que lo habilite.',
    },
    retry: 'after_change',
  },
  lookup_invalid: {
    status: 400,
    title: { en: 'Invalid lookup', es: 'La consulta no es válida' },
    cause: {
      en: '`breb.lookupId` is unknown, has expired, or belongs to the lookup of another key.',
      es: '`breb.lookupId` no existe, ya venció o corresponde a la consulta de otra llave.',
    },
    remedy: {
      en: 'Look the key up again and send the new `lookupId` with the same `keyString`. Nothing was created.',
      es: 'Consulte la llave de nuevo y envíe el nuevo `lookupId` con la misma `keyString`. No se creó nada.',
    },
    retry: 'after_change',
  },
  breb_key_invalid: {
    status: 400,
    title: { en: 'Not a Bre-B key', es: 'No es una llave Bre-B' },
    cause: {
      en: 'The text cannot be a key of any type, or the directory does not take it as one.',
      es: 'El texto no puede ser una llave de ningún tipo, o el directorio no la acepta.',
    },
    remedy: {
      en: 'A key is a mobile number, an e-mail address, an identification number, a merchant code or `@` with letters and digits. Ask the receiver for it again.',
      es: 'Una llave es un número de celular, un correo, un número de identificación, un código de comercio o `@` con letras y números. Pídasela de nuevo a quien recibe.',
    },
    retry: 'after_change',
  },
  cursor_invalid: {
    status: 400,
    title: { en: 'Invalid cursor', es: 'Cursor inválido' },
    cause: {
      en: 'The cursor was not made by this service, or not for this list with these filters.',
      es: 'El cursor no fue creado por este servicio, o no para esta lista con estos filtros.',
    },
    remedy: {
      en: 'Take `nextCursor` or `previousCursor` from a page of the same list and keep the filters unchanged. Start again without a cursor if in doubt.',
      es: 'Tome `nextCursor` o `previousCursor` de una página de la misma lista y no cambie los filtros. Ante la duda, empiece sin cursor.',
    },
    retry: 'after_change',
  },
  unauthorized: {
    status: 401,
    title: { en: 'Unauthorized', es: 'No autorizado' },
    cause: {
      en: 'There is no credential, or it is unknown, expired or revoked.',
      es: 'No hay credencial, o es desconocida, venció o fue revocada.',
    },
    remedy: {
      en: 'Send a valid key in `x-api-key`, or a token of `POST /oauth/token` as `Authorization: Bearer`. Keys of staging start with `cdl_test_`, keys of production with `cdl_live_`.',
      es: 'Envíe una llave válida en `x-api-key`, o un token de `POST /oauth/token` como `Authorization: Bearer`. Las llaves de pruebas empiezan por `cdl_test_`, las de producción por `cdl_live_`.',
    },
    retry: 'after_change',
  },
  insufficient_scope: {
    status: 403,
    title: { en: 'Insufficient scope', es: 'Permiso insuficiente' },
    cause: {
      en: 'The credential is valid but lacks the scope that this operation needs (`requiredScope`).',
      es: 'La credencial es válida pero no tiene el permiso que esta operación necesita (`requiredScope`).',
    },
    remedy: {
      en: 'Use a key with that scope.',
      es: 'Use una llave que tenga ese permiso.',
    },
    retry: 'after_change',
  },
  address_not_allowed: {
    status: 403,
    title: { en: 'Address not allowed', es: 'Dirección no permitida' },
    cause: {
      en: 'The credential is valid, but its API key may only be used from certain addresses, and this request came from another one.',
      es: 'La credencial es válida, pero su llave de API solo se puede usar desde ciertas direcciones, y esta solicitud llegó desde otra.',
    },
    remedy: {
      en: 'Send the request from an allowed address, or ask the operator to change the list of the API key. If you did not send the request, the API key was stolen: have it revoked.',
      es: 'Envíe la solicitud desde una dirección permitida o pida al operador que cambie la lista de la llave de API. Si usted no envió la solicitud, le robaron la llave de API: pida que la revoquen.',
    },
    retry: 'after_change',
  },
  organization_suspended: {
    status: 403,
    title: { en: 'Organization suspended', es: 'Organización suspendida' },
    cause: {
      en: 'The operator of this service has suspended this organization: it cannot create payins, payouts or payment links, nor look up keys. Nothing was created.',
      es: 'El operador del servicio suspendió esta organización: no puede crear cobros, pagos ni enlaces de pago, ni consultar llaves. No se creó nada.',
    },
    remedy: {
      en: 'Contact the operator of this service. Reads and webhooks go on, payins that are open can still be paid, and payouts that were not sent wait until the organization is resumed. Repeating a request that was answered 201 before still returns the same resource.',
      es: 'Comuníquese con el operador del servicio. Las consultas y los webhooks siguen, los cobros abiertos aún se pueden pagar y los pagos que no se han enviado esperan hasta que se levante la suspensión. Repetir una solicitud que ya recibió 201 devuelve el mismo recurso.',
    },
    retry: 'after_change',
  },
  not_found: {
    status: 404,
    title: { en: 'Not found', es: 'No encontrado' },
    cause: {
      en: 'There is nothing here under this address for your organization.',
      es: 'No hay nada en esta dirección para su organización.',
    },
    remedy: {
      en: 'Check the path and the identifier, and that the credential belongs to the organization and environment that created the resource.',
      es: 'Revise la ruta y el identificador, y que la credencial sea de la organización y el ambiente que crearon el recurso.',
    },
    retry: 'after_change',
  },
  breb_key_not_found: {
    status: 404,
    title: { en: 'No such Bre-B key', es: 'La llave Bre-B no existe' },
    cause: {
      en: 'The directory has no such key, or it was canceled.',
      es: 'El directorio no tiene esa llave, o fue cancelada.',
    },
    remedy: {
      en: 'Ask the receiver for the key again. Looking for keys that do not exist soon reaches a limit.',
      es: 'Pida la llave de nuevo a quien recibe. Buscar llaves que no existen llega pronto a un límite.',
    },
    retry: 'after_change',
  },
  method_not_allowed: {
    status: 405,
    title: { en: 'Method not allowed', es: 'Método no permitido' },
    cause: {
      en: 'The path exists but does not take this HTTP method. `Allow` lists those it takes.',
      es: 'La ruta existe pero no acepta este método HTTP. `Allow` indica los que acepta.',
    },
    remedy: { en: 'Use one of the methods in `Allow`.', es: 'Use uno de los métodos de `Allow`.' },
    retry: 'after_change',
  },
  reference_taken: {
    status: 409,
    title: { en: 'Reference already used', es: 'Referencia ya usada' },
    cause: {
      en: 'Your organization already has a resource of this kind with this reference; `existingId` names it.',
      es: 'Su organización ya tiene un recurso de este tipo con esta referencia; `existingId` lo identifica.',
    },
    remedy: {
      en: 'If this is a repeat of the same payment, read the existing one. If it is another payment, give it another reference. To make repeats safe send an `Idempotency-Key`.',
      es: 'Si es una repetición del mismo pago, consulte el existente. Si es otro pago, dele otra referencia. Para repetir sin riesgo envíe `Idempotency-Key`.',
    },
    retry: 'after_change',
  },
  idempotency_in_flight: {
    status: 409,
    title: { en: 'Equal request still in progress', es: 'Una solicitud igual sigue en curso' },
    cause: {
      en: 'An earlier request with the same `Idempotency-Key` has not finished within this request’s time.',
      es: 'Una solicitud anterior con la misma `Idempotency-Key` no terminó dentro del tiempo de esta.',
    },
    remedy: {
      en: 'Send the same request with the same key again after a moment.',
      es: 'Envíe la misma solicitud con la misma llave después de un momento.',
    },
    retry: 'safe',
  },
  endpoint_disabled: {
    status: 409,
    title: { en: 'Endpoint disabled', es: 'Destino deshabilitado' },
    cause: {
      en: 'The endpoint is disabled, so nothing is sent to it; its `disabledReason` says why.',
      es: 'El destino está deshabilitado, así que no se le envía nada; su `disabledReason` dice por qué.',
    },
    remedy: {
      en: 'Enable it first: `PATCH` with `status` `ENABLED`.',
      es: 'Habilítelo primero: `PATCH` con `status` `ENABLED`.',
    },
    retry: 'after_change',
  },
  too_many_endpoints: {
    status: 409,
    title: { en: 'Too many endpoints', es: 'Demasiados destinos' },
    cause: {
      en: 'Your organization has fifty webhook endpoints already.',
      es: 'Su organización ya tiene cincuenta destinos de webhooks.',
    },
    remedy: {
      en: 'Delete one that is no longer needed, or change it.',
      es: 'Elimine uno que ya no necesite, o cámbielo.',
    },
    retry: 'after_change',
  },
  anomaly_resolved: {
    status: 409,
    title: { en: 'Anomaly already resolved', es: 'La anomalía ya fue resuelta' },
    cause: {
      en: 'The money of this anomaly was accepted, credited or returned before, or is being returned.',
      es: 'El dinero de esta anomalía ya fue aceptado, abonado o devuelto, o se está devolviendo.',
    },
    remedy: {
      en: 'Read the payin: `status` and `resolution` of the anomaly say what was decided.',
      es: 'Consulte el cobro: `status` y `resolution` de la anomalía dicen qué se decidió.',
    },
    retry: 'never',
  },
  anomaly_without_money: {
    status: 409,
    title: { en: 'Anomaly without money', es: 'Anomalía sin dinero' },
    cause: {
      en: 'No money came with this anomaly, so there is nothing to accept.',
      es: 'Con esta anomalía no llegó dinero, así que no hay nada que aceptar.',
    },
    remedy: {
      en: 'No action is needed: the operator reviews it.',
      es: 'No hay que hacer nada: el operador la revisa.',
    },
    retry: 'never',
  },
  payout_already_sent: {
    status: 409,
    title: { en: 'Payout already sent', es: 'El pago ya fue enviado' },
    cause: {
      en: 'The rail has the order of this payout, or may have it: the payout cannot be canceled.',
      es: 'La red ya tiene la orden de este pago, o puede tenerla: el pago no se puede cancelar.',
    },
    remedy: {
      en: 'Wait for its event. If the money arrives and should not have, ask the receiver for it: the rail takes nothing back.',
      es: 'Espere su evento. Si el dinero llega y no debía llegar, pídaselo a quien lo recibió: la red no devuelve pagos.',
    },
    retry: 'never',
  },
  payout_ended: {
    status: 409,
    title: { en: 'Payout has ended', es: 'El pago ya terminó' },
    cause: {
      en: 'The payout ended without being sent, so there is nothing to cancel; `errorCode` of the payout says why.',
      es: 'El pago terminó sin ser enviado, así que no hay nada que cancelar; `errorCode` del pago dice por qué.',
    },
    remedy: { en: 'No action is needed: no money was sent.', es: 'No hay que hacer nada: no salió dinero.' },
    retry: 'never',
  },
  payload_too_large: {
    status: 413,
    title: { en: 'Body too large', es: 'Cuerpo demasiado grande' },
    cause: {
      en: 'The body is larger than the limit: 64 KiB, and 256 KiB for notifications of a rail.',
      es: 'El cuerpo supera el límite: 64 KiB, y 256 KiB para las notificaciones de un medio de pago.',
    },
    remedy: { en: 'Send a smaller body.', es: 'Envíe menos datos.' },
    retry: 'after_change',
  },
  unsupported_media_type: {
    status: 415,
    title: { en: 'Unsupported content type', es: 'Tipo de contenido no soportado' },
    cause: {
      en: 'The body’s `Content-Type` is not one this operation reads.',
      es: 'El `Content-Type` del cuerpo no es uno que esta operación lea.',
    },
    remedy: { en: 'Send `Content-Type: application/json`.', es: 'Envíe `Content-Type: application/json`.' },
    retry: 'after_change',
  },
  breb_key_suspended: {
    status: 422,
    title: { en: 'Bre-B key suspended', es: 'Llave Bre-B suspendida' },
    cause: {
      en: 'The key exists, but its holder or its bank has suspended it: money cannot be sent to it.',
      es: 'La llave existe, pero su titular o su banco la suspendió: no se le puede enviar dinero.',
    },
    remedy: {
      en: 'Ask the receiver to reactivate it at the bank, or for another key.',
      es: 'Pida a quien recibe que la reactive en su banco, o que le dé otra llave.',
    },
    retry: 'after_change',
  },
  idempotency_mismatch: {
    status: 422,
    title: {
      en: 'Idempotency key used with another body',
      es: 'Llave de idempotencia usada con otro cuerpo',
    },
    cause: {
      en: 'This `Idempotency-Key` was used before with a different body.',
      es: 'Esta `Idempotency-Key` ya se usó con un cuerpo diferente.',
    },
    remedy: {
      en: 'A repeat must carry the same body. A new payment takes a new key.',
      es: 'Una repetición debe llevar el mismo cuerpo. Un pago nuevo lleva una llave nueva.',
    },
    retry: 'never',
  },
  invalid_client: {
    status: 401,
    title: { en: 'Invalid client', es: 'Cliente inválido' },
    cause: {
      en: 'The client id and secret do not name a live API key.',
      es: 'El identificador y el secreto del cliente no corresponden a una llave vigente.',
    },
    remedy: {
      en: 'Client id is the key’s id (the part after `cdl_test_` or `cdl_live_`), client secret is the whole API key.',
      es: 'El identificador es el de la llave (la parte después de `cdl_test_` o `cdl_live_`); el secreto es la llave completa.',
    },
    retry: 'after_change',
  },
  unsupported_grant_type: {
    status: 400,
    title: { en: 'Unsupported grant type', es: 'Tipo de concesión no soportado' },
    cause: {
      en: '`grant_type` must be `client_credentials`.',
      es: '`grant_type` debe ser `client_credentials`.',
    },
    remedy: { en: 'Send `grant_type=client_credentials`.', es: 'Envíe `grant_type=client_credentials`.' },
    retry: 'after_change',
  },
  invalid_scope: {
    status: 400,
    title: { en: 'Invalid scope', es: 'Permiso inválido' },
    cause: {
      en: 'A scope was asked for that the key does not have.',
      es: 'Se pidió un permiso que la llave no tiene.',
    },
    remedy: {
      en: 'Ask only for scopes of the key, or leave `scope` out to get all of them.',
      es: 'Pida solo permisos de la llave, o no envíe `scope` para recibirlos todos.',
    },
    retry: 'after_change',
  },
  rate_limited: {
    status: 429,
    title: { en: 'Too many requests', es: 'Demasiadas solicitudes' },
    cause: {
      en: 'Your organization or this API key sends more requests than its limit allows, or many requests with invalid credentials came from your address. This one was refused before anything was done.',
      es: 'Su organización o esta llave de API envía más solicitudes de las que permite su límite, o desde su dirección llegaron muchas solicitudes con credenciales inválidas. Esta se rechazó antes de hacer nada.',
    },
    remedy: {
      en: 'Wait for the time in `Retry-After` and send the same request again. `RateLimit` says what is left before you are refused; if the limit is too low for you, ask the operator of this service.',
      es: 'Espere el tiempo de `Retry-After` y envíe la misma solicitud de nuevo. `RateLimit` indica cuánto le queda antes de un rechazo; si el límite es bajo para usted, hable con el operador del servicio.',
    },
    retry: 'safe',
  },
  too_many_lookups: {
    status: 429,
    title: { en: 'Too many lookups', es: 'Demasiadas consultas' },
    cause: {
      en: 'Your organization has looked up, or paid without a lookup, too many keys: above all keys that do not exist, or whose holder is not whom you named.',
      es: 'Su organización consultó, o pagó sin consultar, demasiadas llaves: sobre todo llaves que no existen o cuyo titular no es el que usted indicó.',
    },
    remedy: {
      en: 'Wait for the time in `Retry-After`. A lookup that a payout follows costs nothing in the end. Payouts to keys with a valid lookup are accepted meanwhile.',
      es: 'Espere el tiempo de `Retry-After`. Una consulta a la que le sigue un pago al final no cuenta. Mientras tanto se aceptan pagos a llaves con una consulta vigente.',
    },
    retry: 'safe',
  },
  payment_link_completed: {
    status: 409,
    title: { en: 'The link was paid', es: 'El enlace ya fue pagado' },
    cause: {
      en: 'The payment link is completed: its payer paid before you closed it.',
      es: 'El enlace de pago está completado: el pagador pagó antes de que usted lo cerrara.',
    },
    remedy: {
      en: 'Treat it as paid: `paymentlink.completed` reports it, and `payinId` names the payin.',
      es: 'Trátelo como pagado: `paymentlink.completed` lo informa y `payinId` indica el cobro.',
    },
    retry: 'after_change',
  },
  too_many_streams: {
    status: 429,
    title: { en: 'Too many streams', es: 'Demasiadas transmisiones' },
    cause: {
      en: 'Your organization follows its events in as many streams as it may have open at once.',
      es: 'Su organización ya sigue sus eventos en todas las transmisiones que puede tener abiertas a la vez.',
    },
    remedy: {
      en: 'Close one, or wait: a stream ends after ten minutes. No event is lost: a stream resumes from the position you send.',
      es: 'Cierre una o espere: una transmisión termina sola a los diez minutos. No se pierde nada, pues una transmisión sigue desde donde usted indique.',
    },
    retry: 'safe',
  },
  internal_error: {
    status: 500,
    title: { en: 'Internal error', es: 'Algo falló de nuestro lado' },
    cause: {
      en: 'An unexpected error occurred. It was logged with the request id.',
      es: 'Una falla inesperada. Quedó registrada con el identificador de la solicitud.',
    },
    remedy: {
      en: 'A POST with an `Idempotency-Key` is safe to repeat. If it persists, send the operator the `requestId`.',
      es: 'Un POST con `Idempotency-Key` se puede repetir sin riesgo. Si persiste, envíe al operador el `requestId`.',
    },
    retry: 'safe',
  },
  overloaded: {
    status: 503,
    title: { en: 'Service overloaded', es: 'Demasiadas solicitudes a la vez' },
    cause: {
      en: 'The service is at its limit and refused this request before doing anything.',
      es: 'El servicio está al límite y rechazó esta solicitud antes de hacer nada.',
    },
    remedy: {
      en: 'Repeat the request after the time in `Retry-After`. Nothing was created.',
      es: 'Repita la solicitud después del tiempo en `Retry-After`. No se creó nada.',
    },
    retry: 'safe',
  },
  outcome_unknown: {
    status: 503,
    title: { en: 'Outcome not known', es: 'Resultado desconocido' },
    cause: {
      en: 'The request may or may not have taken effect: the response of the database was lost or late.',
      es: 'La solicitud pudo o no haber tenido efecto: la respuesta de la base de datos se perdió o tardó.',
    },
    remedy: {
      en: 'Repeat the same request with the same `Idempotency-Key` (or the same `reference`): it takes effect once.',
      es: 'Repita la misma solicitud con la misma `Idempotency-Key` (o la misma `reference`): tendrá efecto una sola vez.',
    },
    retry: 'safe',
  },
  rail_paused: {
    status: 503,
    title: { en: 'Rail paused', es: 'Medio de pago en pausa' },
    cause: {
      en: 'The operator has paused this rail, for your organization or for all. This request created nothing, and repeats of earlier requests are not looked up meanwhile.',
      es: 'El operador puso en pausa este medio de pago, para su organización o para todas. Esta solicitud no creó nada, y mientras tanto no se consultan las repeticiones de solicitudes anteriores.',
    },
    remedy: {
      en: 'Offer the payer the other rail, or repeat the request after the time in `Retry-After`. Payins created before keep their course.',
      es: 'Ofrezca al pagador el otro medio de pago, o repita la solicitud después del tiempo en `Retry-After`. Los cobros creados antes siguen su curso.',
    },
    retry: 'safe',
  },
  rail_unavailable: {
    status: 503,
    title: { en: 'Rail not responding', es: 'La red no responde' },
    cause: {
      en: 'The network gave no clear answer in time, so the result is unknown.',
      es: 'La red no dio una respuesta clara a tiempo, así que no se puede decir nada sobre lo que preguntó.',
    },
    remedy: {
      en: 'Repeat the request after the time in `Retry-After`.',
      es: 'Repita la solicitud después del tiempo en `Retry-After`.',
    },
    retry: 'safe',
  },
  service_unavailable: {
    status: 503,
    title: { en: 'Service unavailable', es: 'Servicio no disponible' },
    cause: {
      en: 'The service cannot work right now, for instance because its database is unavailable. Nothing was done.',
      es: 'El servicio no puede trabajar en este momento, por ejemplo porque su base de datos no responde. No se hizo nada.',
    },
    remedy: {
      en: 'Repeat the request after the time in `Retry-After`.',
      es: 'Repita la solicitud después del tiempo en `Retry-After`.',
    },
    retry: 'safe',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;
