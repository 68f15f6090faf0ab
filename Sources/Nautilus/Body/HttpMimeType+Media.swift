extension HttpMimeType {
    /// `application/json`.
    public static let json = HttpMimeType("application", "json")
    /// `application/x-ndjson`: one JSON value a line.
    public static let jsonLines = HttpMimeType("application", "x-ndjson")
    /// `application/x-www-form-urlencoded`.
    public static let form = HttpMimeType("application", "x-www-form-urlencoded")
    /// `application/octet-stream`: bytes of any kind.
    public static let octetStream = HttpMimeType("application", "octet-stream")
    /// `application/pdf`.
    public static let pdf = HttpMimeType("application", "pdf")
    /// `application/xml`.
    public static let xml = HttpMimeType("application", "xml")
    /// `application/zip`.
    public static let zip = HttpMimeType("application", "zip")
    /// `application/gzip`.
    public static let gzip = HttpMimeType("application", "gzip")
    /// `text/plain` in UTF-8.
    public static let text = HttpMimeType("text", "plain").with("charset", "utf-8")
    /// `text/html`.
    public static let html = HttpMimeType("text", "html")
    /// `text/csv`.
    public static let csv = HttpMimeType("text", "csv")
    /// `text/event-stream`: server-sent events.
    public static let eventStream = HttpMimeType("text", "event-stream")
    /// `image/png`.
    public static let png = HttpMimeType("image", "png")
    /// `image/jpeg`.
    public static let jpeg = HttpMimeType("image", "jpeg")
    /// `image/gif`.
    public static let gif = HttpMimeType("image", "gif")
    /// `image/webp`.
    public static let webp = HttpMimeType("image", "webp")
    /// `image/heic`.
    public static let heic = HttpMimeType("image", "heic")
    /// `image/svg+xml`.
    public static let svg = HttpMimeType("image", "svg+xml")
    /// `image/tiff`.
    public static let tiff = HttpMimeType("image", "tiff")
    /// `audio/mpeg`: MP3.
    public static let mp3 = HttpMimeType("audio", "mpeg")
    /// `audio/mp4`: AAC in a file, as phones record it.
    public static let m4a = HttpMimeType("audio", "mp4")
    /// `audio/wav`.
    public static let wav = HttpMimeType("audio", "wav")
    /// `video/mp4`.
    public static let mp4 = HttpMimeType("video", "mp4")
    /// `video/quicktime`.
    public static let quickTime = HttpMimeType("video", "quicktime")

    /// Creates the type of a file name's extension, given without its dot and in any case; nil for one that is not
    /// listed here.
    ///
    /// Text is taken for UTF-8 only where the extension is `txt`: the encoding of other kinds of text is unknown.
    public init?(fileExtension: String) {
        guard let type = Self.byExtension[fileExtension.lowercased()] else { return nil }
        self = type
    }

    private static let byExtension: [String: HttpMimeType] = [
        "json": .json, "ndjson": .jsonLines, "jsonl": .jsonLines, "pdf": .pdf, "xml": .xml, "zip": .zip, "gz": .gzip,
        "txt": .text, "html": .html, "htm": .html, "csv": .csv,
        "png": .png, "jpg": .jpeg, "jpeg": .jpeg, "gif": .gif, "webp": .webp, "heic": .heic, "svg": .svg,
        "tif": .tiff, "tiff": .tiff,
        "mp3": .mp3, "m4a": .m4a, "wav": .wav, "mp4": .mp4, "m4v": .mp4, "mov": .quickTime,
    ]
}
